"""A program with a function for each thing that a preview can do.

Whatever torch it runs with: where a function has no kernels in its report, that torch cannot be previewed in
this. ``fullgraph devices --check`` shows it as a table.
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
    """The least that there is."""
    return (x * 2).softmax(-1).sum()


@torch.compile
def backward(x: torch.Tensor) -> torch.Tensor:
    """What gradients are computed with is compiled, too."""
    return x.sin().square().sum()


@torch.compile(dynamic=True)
def dynamic_sizes(x: torch.Tensor) -> torch.Tensor:
    """Kernels for sizes that are symbols."""
    return x.cos().sum(0)


@torch.compile
def attention(x: torch.Tensor) -> torch.Tensor:
    """The choice of a kernel for attention."""
    return functional.scaled_dot_product_attention(x * 2, x, x, is_causal=True) + 1


@torch.compile(mode="max-autotune-no-cudagraphs")
def matrix_product_templates(x: torch.Tensor) -> torch.Tensor:
    """The templates of TorchInductor, which it measures otherwise."""
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
