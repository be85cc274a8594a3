"""A model is trained, and evaluated without gradients."""

# cause: grad mode was True, is now False
# advice: This is expected
# fix: none (training and evaluation are two graphs)

import torch

if __name__ == "__main__":
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout())
    compiled = torch.compile(model)
    compiled(torch.ones(2, 4)).sum().backward()
    model.eval()
    with torch.no_grad():
        compiled(torch.ones(2, 4))  # expect: recompile [compiled(torch.ones(2, 4))]
