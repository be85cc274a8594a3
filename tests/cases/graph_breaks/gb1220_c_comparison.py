"""GB1220: Untraceable C tp_richcompare."""

import torch


@torch.compile
def f(x, schema, table):
    y = x * 2
    if schema == table:  # expect: GB1220 [schema == table]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2), torch._C.parse_schema("f(Tensor x) -> Tensor"), torch._C.parse_schema("g(Tensor x) -> Tensor"))
