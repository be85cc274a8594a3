"""Never ends, in a call that no signal handler of Python interrupts."""

import threading

import torch

open("/proc/self/comm", "w").write("fault")


@torch.compile
def seen(x):
    print("seen")
    return x + 1


seen(torch.ones(3))
lock = threading.Lock()
lock.acquire()
lock.acquire()
