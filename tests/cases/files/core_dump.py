"""A child dies, and its memory goes into a file."""

import os
import resource
import signal
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

child = os.fork()
if not child:
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20 if most < 0 else min(most, 1 << 20), most))
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)
os.waitpid(child, 0)
os.remove("m.pt")
print("end core_dump")
