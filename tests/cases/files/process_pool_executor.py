"""An executor of processes replaces files."""

import os
from concurrent.futures import ProcessPoolExecutor

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with ProcessPoolExecutor(1) as pool:
    pool.submit(os.replace, "m.pt", "m_bak.pt").result()
    pool.submit(os.truncate, "data.bin", 5).result()
assert not os.path.exists("m.pt") and torch.load("m_bak.pt")["step"] == 1
assert os.path.getsize("data.bin") == 5
print("end process_pool_executor")
