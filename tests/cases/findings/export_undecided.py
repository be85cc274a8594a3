"""An export that raises, since only data decide a branch; the program goes on."""

import contextlib

import torch


class Gate(torch.nn.Module):
    def forward(self, x):
        count = (x > 0).sum().item()
        if count > 2:  # expect: data-dependent [count > 2]
            return x * 2
        return x


class Head(torch.nn.Module):
    def forward(self, x):
        count = int((x > 0).sum())  # expect: data-dependent [int((x > 0).sum())]
        return x[:count]


for model in (Gate(), Head()):
    with contextlib.suppress(Exception):
        torch.export.export(model, (torch.ones(4),))

torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
