"""A module that counts its calls."""

# cause: `self.calls` was 2, is now 3
# advice: torch._dynamo.config.allow_unspec_int_on_nn_module = True

import torch

# fix: torch._dynamo.config.allow_unspec_int_on_nn_module = True


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 2

    def forward(self, x):
        self.calls += 1  # expect: recompile [self.calls]
        return x + 1


if __name__ == "__main__":
    compiled = torch.compile(Counter())  # fix: compiled = torch.compile(Counter(), dynamic=True)
    compiled(torch.ones(4))
    compiled(torch.ones(4))
