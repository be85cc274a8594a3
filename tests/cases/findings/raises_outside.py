"""The program's own exception, with a graph break before it."""

import torch


@torch.compile
def f(x):
    print(end="")  # expect: GB0059 [print(end="")]
    return x * 2


if __name__ == "__main__":
    f(torch.ones(2))
    {}["gone"]  # expect: target-error [{}["gone"]]
