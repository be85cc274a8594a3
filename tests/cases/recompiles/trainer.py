"""A module within an object that trains it, as LightningModule does."""

# cause: `self.trainer.step` was 2, is now 3
# advice: only computes with `self.trainer.step`

import torch
# fix: torch._dynamo.config.allow_unspec_int_on_nn_module = True  # only computes with `self.trainer.step`


class Trainer:
    def __init__(self):
        self.step = 2


class Lit(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.trainer = Trainer()

    def forward(self, x):
        loss = self.layer(x).sum()
        self.trainer.step += 1  # expect: recompile [self.trainer.step]
        return loss * self.trainer.step


if __name__ == "__main__":
    model = Lit()
    compiled = torch.compile(model)  # fix: compiled = torch.compile(model, dynamic=True)
    for _ in range(2):
        compiled(torch.ones(2, 4))
