"""Which kernel attention takes on a GPU: torch asks the driver, and takes the slowest without one.

The rules are those of ``aten/src/ATen/native/transformers/cuda/sdp_utils.cpp``, as far as they decide among
kernels that a person would meet; what was measured on a device is in ``docs/preview.md``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.nn import functional

_torch_attention = functional.scaled_dot_product_attention
_HALF = (torch.float16, torch.bfloat16)
_CUDNN = 91500
"""The version from which cuDNN's kernel is preferred on the GPUs for data centres since Hopper."""


def choose(graph: GraphModule) -> None:
    """Have a graph's attention take the kernel that it would take on the GPU."""
    targets = (_torch_attention, torch.ops.aten.scaled_dot_product_attention.default)
    for module in graph.modules():
        if isinstance(module, GraphModule):
            for node in module.graph.nodes:
                if node.op == "call_function" and node.target in targets:
                    node.target = attend
            module.recompile()


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """``scaled_dot_product_attention``, by the kernel that a GPU would take.

    Tensors are (batch, heads, length, width).
    """
    settings: dict[str, Any] = {"scale": scale}
    kernel = _kernel(query, value, attn_mask)
    if kernel == "math":
        return _torch_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )
    aten = torch.ops.aten
    wants_grad = torch.is_grad_enabled() and any(item.requires_grad for item in (query, key, value))
    if kernel == "flash":
        width = query.size(-1)
        padding = -width % 8
        if padding:
            settings["scale"] = scale if scale is not None else width**-0.5
            query, key, value = (functional.pad(item, (0, padding)) for item in (query, key, value))
        output = aten._scaled_dot_product_flash_attention(
            query, key, value, dropout_p, is_causal, **settings
        )[0]
        return output[..., :width] if padding else output
    if enable_gqa:
        groups = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    bias = _bias(attn_mask, query, key)
    if kernel == "cudnn":
        attention = aten._scaled_dot_product_cudnn_attention
        return attention(query, key, value, bias, wants_grad, dropout_p, is_causal, **settings)[0]
    attention = aten._scaled_dot_product_efficient_attention
    return attention(query, key, value, bias, wants_grad, dropout_p, is_causal, **settings)[0]


def _kernel(query: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None) -> str:
    """``cudnn``, ``flash``, ``efficient`` or ``math``."""
    if not query.is_cuda or query.dim() != 4:
        return "math"
    half, width = query.dtype in _HALF, query.size(-1)
    major, minor = torch.cuda.get_device_capability()
    if half and major in (9, 10) and not minor and _cudnn() >= _CUDNN and width % 8 == 0 and width <= 128:
        return "cudnn"
    if half and mask is None and width <= 256 and value.size(-1) == width:
        return "flash"
    return "efficient"


def _cudnn() -> int:
    return torch.backends.cudnn.version() or 0


def _bias(mask: torch.Tensor | None, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor | None:
    """A mask as what is added to the scores."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, float("-inf"))
    return mask.expand(query.size(0), query.size(1), query.size(2), key.size(2))
