"""GB0088: Observed exception."""

import torch


def limit(x, size):
    if x.shape[0] > size:
        raise ValueError(f"more than {size} rows")  # expect: GB0088 [raise ValueError(f"more than {size} rows")]
    return x


@torch.compile
def f(x):
    y = x * 2
    return limit(y, 2) + 1


if __name__ == "__main__":
    try:
        f(torch.ones(3))
    except ValueError:
        pass
