"""Goes well: one finding."""

import torch
from seen import seen

seen(torch.ones(3))
