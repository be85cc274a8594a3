"""A child changes a file through a link and a name in its temporary folder."""

import subprocess
import tempfile
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

script = """
ln -s "$PWD" "$0/linked" && echo new > "$0/linked/log.txt"
ln notes.txt "$0/hard" && echo new > "$0/hard"
mv m.pt "$0/moved"
chmod 000 "$0/linked/best.ckpt"
"""
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["sh", "-c", script, folder], stderr=subprocess.DEVNULL)
with open("data.bin", "wb"):
    pass
print("end child_of_folder")
