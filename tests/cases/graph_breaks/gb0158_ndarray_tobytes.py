"""GB0158: Unsupported ndarray method call."""

import torch


@torch.compile
def f(x):
    y = (x * 2).numpy()
    data = y.tobytes()  # expect: GB0158 [y.tobytes()]
    return x + len(data)


if __name__ == "__main__":
    f(torch.ones(2))
