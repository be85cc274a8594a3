"""GB0198: mapping proxy affected by dictionary mutation."""

import types

import torch


@torch.compile
def f(x, scales, view):
    y = x * 2
    scales["b"] = 3
    return y * view["a"]  # expect: GB0198 [view["a"]]


if __name__ == "__main__":
    table = {"a": 2}
    f(torch.ones(2), table, types.MappingProxyType(table))
