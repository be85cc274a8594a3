"""Never ends, in Python."""

import torch
from seen import seen

seen(torch.ones(3))
while True:
    pass
