"""GB0099: Skip inlining `torch.compiler.disable()`d function."""

import torch


class Model(torch.nn.Module):
    @torch.compiler.disable
    def log(self, x):
        return x.mean()

    def forward(self, x):
        y = x * 2
        mean = self.log(y)  # expect: GB0099 [self.log(y)]
        return y - mean


if __name__ == "__main__":
    torch.compile(Model())(torch.ones(2))
