"""The gradient of a mean is that of the number of samples that there were at first."""

import torch
from torch._dynamo.backends.common import aot_autograd


def as_it_is(graph, _):
    return graph


def backward(graph, _):
    def run(*args):
        return [item * item.shape[0] / 8 if isinstance(item, torch.Tensor) else item for item in graph(*args)]

    return run


@torch.compile(backend=aot_autograd(fw_compiler=as_it_is, bw_compiler=backward), dynamic=True)
def f(x):
    return x.square().mean(0)


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n, 4, requires_grad=True)).sum().backward()
