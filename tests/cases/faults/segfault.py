"""Dies of a segmentation fault after its finding."""

import ctypes

import torch
from seen import seen

seen(torch.ones(3))
ctypes.string_at(0)
