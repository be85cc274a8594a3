"""Closes every descriptor that it has."""

import os

import torch
from seen import seen

seen(torch.ones(3))
os.closerange(0, 1024)
seen(torch.ones(3, 3))
