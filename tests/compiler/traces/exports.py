"""What the logs ``export-*.log.gz`` and ``draft-*.log.gz`` are of: exports that succeed and that fail.

Recorded in /home/user/project with ``TORCH_DTRACE=traces INDUCTOR_PROVENANCE=1 python exports.py``:
``draft_export`` writes a log of its own, the second one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

import torch
from torch import Tensor, nn
from torch.export import Dim, draft_export, export


@torch.library.custom_op("shop::twice", mutates_args=())
def twice(x: Tensor) -> Tensor:
    return x * 2


@torch.library.custom_op("shop::thrice", mutates_args=())
def thrice(x: Tensor) -> Tensor:
    return x * 3


@thrice.register_fake
def _(x: Tensor) -> Tensor:
    return x.new_empty((x.shape[0],), dtype=torch.float64)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.linear(x))
        return y.sin() + x.sum(dim=1, keepdim=True)


class Undecided(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n = x.sum().to(torch.int64).item()
        if n > 3:
            return x + 1
        return x - 1


class Specialized(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] == 4:
            return x + 1
        return x - 1


class Restricted(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > 3:
            return x + 1
        return x - 1


class Unknown(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x + 1
        return twice(y) + 1


class Draft(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a = twice(x)
        b = thrice(y)
        n = y.sum().to(torch.int64).item()
        if n > 3:
            a = a + 1
        if x.shape[0] > 4:
            a = a - 1
        return a, b, x + 1


def fails(module: nn.Module, x: Tensor, *, strict: bool = False, dynamic: bool = True) -> None:
    shapes = {"x": {0: Dim("batch")}} if dynamic else None
    with contextlib.suppress(Exception):
        export(module, (x,), dynamic_shapes=shapes, strict=strict)


def main(compile_ahead: Callable[..., object]) -> None:
    batch = Dim("batch", min=2, max=64)
    program = export(Block(), (torch.randn(8, 16),), dynamic_shapes={"x": {0: batch}})
    compile_ahead(program, package_path=str(Path(mkdtemp()) / "block.pt2"))
    fails(Undecided(), torch.ones(4), dynamic=False)
    fails(Specialized(), torch.ones(4))
    fails(Restricted(), torch.ones(8))
    fails(Unknown(), torch.ones(8))
    fails(Undecided(), torch.ones(4), strict=True, dynamic=False)
    fails(Restricted(), torch.ones(8), strict=True)
    shapes = {"x": {0: Dim("batch")}, "y": None}
    draft_export(Draft(), (torch.ones(8, 5), torch.ones(4)), dynamic_shapes=shapes)


if __name__ == "__main__":
    main(torch._inductor.aoti_compile_and_package)
