"""Closes every descriptor that it has, and opens files in their place."""

import os
import tempfile

import torch
from seen import seen

seen(torch.ones(3))
os.closerange(3, 1024)
files = [tempfile.TemporaryFile() for _ in range(100)]
seen(torch.ones(3, 3))
