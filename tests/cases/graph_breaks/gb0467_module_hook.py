"""GB0467: setattr() on unsupported type."""

import torch


@torch.compile
def f(x, model):
    y = x * 2
    model.weight.register_hook(lambda grad: grad)
    handle = model.register_forward_hook(lambda m, i, o: o + 1)  # expect: GB0467 [model.register_forward_hook(lambda m, i, o: o + 1)]
    return model(y)


if __name__ == "__main__":
    f(torch.ones(2), torch.nn.Linear(2, 2))
