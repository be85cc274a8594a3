"""The gradient of a relu fails when it runs."""

# stage: faulty
# failure: error InjectedError backward
# nodes: 1

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd


class InjectedError(Exception):
    pass


def fail(gradient, result, threshold):
    raise InjectedError("the gradient of relu does not run")


def compile_forward(graph, inputs):
    return make_boxed_func(graph.forward)


def compile_backward(graph, inputs):
    for node in graph.graph.nodes:
        if node.target is torch.ops.aten.threshold_backward.default:
            node.target = fail
    graph.recompile()
    return make_boxed_func(graph.forward)


faulty = aot_autograd(fw_compiler=compile_forward, bw_compiler=compile_backward)


@torch.compile(backend=faulty)
def block(x, w):
    y = torch.sin(x @ w)
    y = torch.relu(y - 0.1)  # fault
    return (y * x).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(8, 8, requires_grad=True)
    block(x, torch.randn(8, 8)).backward()
