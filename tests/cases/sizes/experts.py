"""A mixture of experts: another number of tokens, each for one of three experts."""

import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.route = nn.Linear(8, 3)
        self.weight = nn.Parameter(torch.randn(3, 8, 8))

    def forward(self, tokens):
        gates = self.route(tokens).softmax(-1)
        chosen = nn.functional.one_hot(gates.argmax(-1), 3).to(gates)
        each = torch.einsum("td,edf->tef", tokens, self.weight)
        return (each * (gates * chosen)[..., None]).sum(1)


if __name__ == "__main__":
    torch.manual_seed(0)
    experts = torch.compile(Experts())
    for tokens in (12, 21, 33):
        experts(torch.randn(tokens, 8)).sum().backward()
