"""GB0107: Tensor.random_ op."""

import torch


class Noise(torch.nn.Module):
    def sample(self, x):
        return torch.empty_like(x).random_(0, 5)  # expect: GB0107 [torch.empty_like(x).random_(0, 5)]

    def forward(self, x):
        y = x * 2
        for _ in range(2):
            y = y + self.sample(y)
        return y


if __name__ == "__main__":
    model = torch.compile(Noise())
    model(torch.ones(2))
