"""Choose the attention kernel that a GPU would use.

Without a driver, torch would use the slowest kernel. The rules here are those of
``aten/src/ATen/native/transformers/cuda/sdp_utils.cpp`` for commonly used kernels; ``docs/preview.md`` has
measurements on a real GPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.nn import functional

_torch_attention = functional.scaled_dot_product_attention
_HALF = (torch.float16, torch.bfloat16)
_WIDEST = 256
_MASKED = -65504.0
"""The value that torch adds to masked scores for cuDNN, whatever the dtype."""


def choose(graph: GraphModule) -> None:
    """Make the attention in a graph use the kernel that a GPU would use."""
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
    """Compute ``scaled_dot_product_attention`` with the kernel that a GPU would use.

    Tensors have the shape (batch, heads, length, width).
    """
    settings: dict[str, Any] = {"scale": scale}
    kernel = _kernel(query, key, value, attn_mask, dropout_p, is_causal)
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
    if kernel == "cudnn":
        bias = _for_cudnn(attn_mask, query)
        attention = aten._scaled_dot_product_cudnn_attention
    else:
        bias = _for_efficient(attn_mask, query, key)
        attention = aten._scaled_dot_product_efficient_attention
    return attention(query, key, value, bias, wants_grad, dropout_p, is_causal, **settings)[0]


def _kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    dropout: float,
    is_causal: bool,
) -> str:
    """Return the name of the kernel: ``cudnn``, ``flash``, ``efficient`` or ``math``."""
    width, length = query.size(-1), query.size(-2)
    if not query.is_cuda or query.dim() != 4 or query.dtype is torch.float64:
        return "math"
    if query.dtype not in _HALF:
        return "efficient" if width % 4 == 0 else "math"
    aligned = width % 8 == 0
    is_narrow = width <= _WIDEST and value.size(-1) == width
    if aligned and is_narrow and not (length == 1 and dropout) and _prefers_cudnn():
        return "cudnn"
    if is_narrow and mask is None and (not is_causal or length == key.size(-2)):
        return "flash"
    return "efficient" if aligned else "math"


def _prefers_cudnn() -> bool:
    """Return whether torch prefers cuDNN on this GPU.

    The supported versions of torch prefer cuDNN on data-center GPUs from Hopper on.
    """
    return torch.cuda.get_device_capability() in ((9, 0), (10, 0))


def _for_cudnn(mask: torch.Tensor | None, query: torch.Tensor) -> torch.Tensor | None:
    """Convert a mask for the cuDNN kernel, to values that are added to the scores."""
    if mask is None or mask.dtype is not torch.bool:
        return mask
    masked = torch.full((), _MASKED, dtype=query.dtype, device=query.device)
    return torch.where(mask, 0.0, masked)


def _for_efficient(mask: torch.Tensor | None, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor | None:
    """Convert a mask for the memory-efficient kernel: it gets the shape of the scores."""
    if mask is None:
        return None
    if mask.dtype is torch.bool:
        mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, float("-inf"))
    return mask.expand(query.size(0), query.size(1), query.size(2), key.size(2))
