"""A break at which the program writes JSON, on the way of each call."""

import json

import torch

torch.set_num_threads(1)


def report(x):
    return json.dumps({"shape": list(x.shape), "history": list(range(5000))})  # slowest: break


@torch.compile
def forward(x, w):
    h = torch.relu(x @ w)
    report(h)
    return torch.softmax(h @ w, -1)


x, w = torch.randn(32, 32), torch.randn(32, 32)
for _ in range(6):
    forward(x, w)
