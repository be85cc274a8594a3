"""GB0166: Unsupported torch._C._ImperativeEngine.queue_callback()."""

import torch


@torch.compile
def f(x):
    y = x * 2
    torch.autograd.Variable._execution_engine.queue_callback(len)  # expect: GB0166 [torch.autograd.Variable._execution_engine.queue_callback(len)]
    return y


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except RuntimeError:
        pass
