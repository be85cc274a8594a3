"""GB0299: constant-like method call with non-constant args."""

import string

import torch


@torch.compile
def describe(x, template):
    y = x.sin()
    text = template.substitute(rows=x.shape[0])  # expect: GB0299 [template.substitute(rows=x.shape[0])]
    return y.cos(), text


if __name__ == "__main__":
    describe(torch.ones(2), string.Template("$rows rows"))
