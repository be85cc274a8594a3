"""A parameter where the first call passed a plain tensor."""

# cause(<2.14): type of `x` was a tensor, is now torch.nn.parameter.Parameter
# cause(>=2.14): type of `x` was torch.Tensor, is now torch.nn.parameter.Parameter
# advice: x.detach()

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(4), torch.nn.Parameter(torch.ones(4), requires_grad=False)):
        f(x)  # fix: f(x.detach())
