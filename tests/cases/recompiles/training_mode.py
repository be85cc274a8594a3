"""The same module trains, then predicts."""

# cause: `self.training` was True, is now False
# advice: compiled once
# fix: none (dropout in training is another graph)

import torch


class Noisy(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.5, self.training)  # expect: recompile [self.training]


if __name__ == "__main__":
    model = Noisy()
    compiled = torch.compile(model)
    compiled(torch.ones(4))
    model.eval()
    compiled(torch.ones(4))
