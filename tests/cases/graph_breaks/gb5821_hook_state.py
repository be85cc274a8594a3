"""GB5821: register_post_accumulate_grad_hook on an intermediate tensor."""

import torch

SEEN = []


@torch.compile
def f(x):
    y = x * 2
    y.register_post_accumulate_grad_hook(SEEN.append)  # expect(<2.15): GB0067  # expect(>=2.15): GB5821
    return y.sum()


if __name__ == "__main__":
    try:
        f(torch.ones(2, requires_grad=True))
    except RuntimeError:
        pass
