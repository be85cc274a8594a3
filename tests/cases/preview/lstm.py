"""A recurrent network of cuDNN."""

# otherwise: cuDNN computes it, and a dry run has no cuDNN
# no kernels

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(nn.LSTM(32, 64, batch_first=True).to(device))
    with torch.no_grad():
        out = model(torch.randn(4, 16, 32, device=device))
