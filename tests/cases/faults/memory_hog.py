"""Takes more memory than it may, but no more than a small machine has."""

import torch
from seen import seen

seen(torch.ones(3))
blocks = [b"x" * (64 << 20) for _ in range(48)]
