"""A shell writes over files, and appends to them."""

import subprocess

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

subprocess.run(
    "echo new > log.txt; echo more >> metrics.csv; : > m.pt; find . -name '*.ckpt' -delete",
    shell=True,
    check=True,
)
with subprocess.Popen(["tee", "config.json"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as tee:
    tee.communicate(b"{}")
with open("log.txt") as log, open("metrics.csv") as metrics, open("config.json") as config:
    assert log.read() == "new\n" and metrics.read().endswith("more\n") and config.read() == "{}"
with open("m.pt") as file:
    assert file.read() == ""
print("end subprocess_shell_redirect")
