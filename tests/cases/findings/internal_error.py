"""Dynamo itself fails: an error on the line that it was at, and told once."""

from unittest import mock

import torch
from torch._dynamo.variables.tensor import TensorVariable


@torch.compile
def f(x):
    y = x * 2
    return y.sum()  # expect: capture-error [y.sum()]


if __name__ == "__main__":
    with mock.patch.object(TensorVariable, "call_method", side_effect=KeyError("inside")):
        f(torch.ones(2))
