"""GB0156: Unsupported method call."""

import json

import torch


@torch.compile
def f(x, config):
    y = x * 2
    text = json.dumps(config)  # expect: GB0156 [json.dumps(config)]
    return y + len(text)


if __name__ == "__main__":
    f(torch.ones(2), {"a": 1})
