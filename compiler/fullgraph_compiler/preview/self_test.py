"""A program with a function for each feature of a preview.

If the report of its run has no kernels for a function, previews with this torch do not support the feature.
``fullgraph devices --check`` shows the result as a table.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import traceback
from collections.abc import Callable

import torch
from torch.nn import functional

_GPU = "cuda" if torch.cuda.is_available() else "cpu"


@torch.compile
def pointwise_and_reduction(x: torch.Tensor) -> torch.Tensor:
    """Compute a pointwise operation and reductions."""
    return (x * 2).softmax(-1).sum()


@torch.compile
def backward(x: torch.Tensor) -> torch.Tensor:
    """Compute a result whose backward pass is also compiled."""
    return x.sin().square().sum()


@torch.compile(dynamic=True)
def dynamic_sizes(x: torch.Tensor) -> torch.Tensor:
    """Compute a result with kernels for symbolic sizes."""
    return x.cos().sum(0)


@torch.compile
def attention(x: torch.Tensor) -> torch.Tensor:
    """Compute attention, for which torch chooses among several kernels."""
    return functional.scaled_dot_product_attention(x * 2, x, x, is_causal=True) + 1


@torch.compile(mode="max-autotune-no-cudagraphs")
def matrix_product_templates(x: torch.Tensor) -> torch.Tensor:
    """Compute a matrix product, for which TorchInductor has several templates.

    TorchInductor chooses among the templates by measurement.
    """
    return (x @ x).relu()


def _tensor(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*sizes, device=_GPU, dtype=dtype)


_CALLS: tuple[Callable[[], object], ...] = (
    lambda: pointwise_and_reduction(_tensor(64, 512)),
    lambda: backward(_tensor(64, 64).requires_grad_()).backward(),
    lambda: dynamic_sizes(_tensor(30, 50)),
    lambda: attention(_tensor(2, 4, 128, 64, dtype=torch.bfloat16)),
    lambda: matrix_product_templates(_tensor(512, 512, dtype=torch.bfloat16)),
)

if __name__ == "__main__":
    for call in _CALLS:
        try:
            call()
        except Exception:
            traceback.print_exc()
