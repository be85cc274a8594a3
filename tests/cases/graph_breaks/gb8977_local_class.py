"""GB8977: Invalid call to __build_class__."""

import torch


@torch.compile
def f(x):
    y = x * 2

    class Result:  # expect: GB8977 [Result]
        pass

    result = Result()
    result.value = y
    return result


if __name__ == "__main__":
    f(torch.ones(2))
