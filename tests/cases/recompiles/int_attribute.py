"""A whole number on a module that changes."""

# cause: `self.steps` was 2, is now 3
# advice: torch._dynamo.config.allow_unspec_int_on_nn_module = True

import torch

# fix: torch._dynamo.config.allow_unspec_int_on_nn_module = True


class Shift(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 2

    def forward(self, x):
        return x + self.steps  # expect: recompile [self.steps]


if __name__ == "__main__":
    model = Shift()
    compiled = torch.compile(model)  # fix: compiled = torch.compile(model, dynamic=True)
    compiled(torch.ones(4))
    model.steps = 3
    compiled(torch.ones(4))
