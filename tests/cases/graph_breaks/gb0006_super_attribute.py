"""GB0006: Attempted to call a super() attribute that is not a function or method."""

import functools

import torch


class Base(torch.nn.Module):
    act = functools.partial(torch.clamp, min=0)


class Layer(Base):
    def forward(self, x):
        x = x - 1
        x = super().act(x)  # expect: GB0006 [super().act(x)]
        return x * 2


if __name__ == "__main__":
    torch.compile(Layer())(torch.randn(4))
