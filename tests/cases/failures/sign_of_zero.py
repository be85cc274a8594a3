"""TorchInductor loses the sign of zero."""

# stage(<2.15): inductor
# stage(>=2.15): none
# failure(<2.15): accuracy Numbers forward
# nodes(<2.15): 2

import torch


@torch.compile
def step(x):
    y = x.abs() + 1
    y = torch.signbit(-y * 0)  # fault
    return y.logical_not()


if __name__ == "__main__":
    step(torch.linspace(-1, 1, 16))
