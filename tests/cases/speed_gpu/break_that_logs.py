"""A break at which the program writes JSON, on the way of each call."""

import json

import torch


def report(x):
    return json.dumps({"shape": list(x.shape), "history": list(range(5000))})  # slowest: break


@torch.compile
def forward(x, w):
    h = torch.relu(x @ w)
    report(h)
    return torch.softmax(h @ w, -1)


x, w = torch.randn(32, 32, device="cuda"), torch.randn(32, 32, device="cuda")
for _ in range(6):
    forward(x, w)
