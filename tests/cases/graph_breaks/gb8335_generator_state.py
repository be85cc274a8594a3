"""GB8335: Generator reconstruction with mutations."""

import torch


def parts(x, log):
    log.append(1)
    yield x
    log.append(2)  # expect: GB8335 [log.append(2)]
    yield x + 1


@torch.compile
def f(x, log):
    y = x * 2
    steps = parts(y, log)
    first = next(steps)
    torch._dynamo.graph_break()  # expect: GB0025 [torch._dynamo.graph_break()]
    return first + next(steps)


if __name__ == "__main__":
    f(torch.ones(2), [])
