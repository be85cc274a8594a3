"""Reductions, norms and what is computed from them."""

import torch
import torch.nn.functional as F


# fullgraph: total(f32[64, 32].requires_grad_()).backward()
def total(x):
    y = x.square()  # fw: fused; bw: fused
    return y.sum()  # fw: fused; bw: fused


# fullgraph: softmax(f32[64, 32].requires_grad_()).sum().backward()
def softmax(x):
    scaled = x * 0.5  # bw: fused (forward, TorchInductor replaces it together with the softmax)
    return torch.softmax(scaled, dim=-1)  # fw: fused; bw: fused


# fullgraph: cross_entropy(f32[64, 32].requires_grad_(), i64[64]).backward()
def cross_entropy(x, labels):
    return F.cross_entropy(x, labels)  # fw: fused; bw: fused


# fullgraph: layer_norm(f32[64, 32].requires_grad_(), f32[32].requires_grad_()).sum().backward()
def layer_norm(x, weight):
    y = x + 1  # fw: fused; bw: fused
    return F.layer_norm(y, (32,), weight)  # fw: fused; bw: fused


# fullgraph: rms_norm(f32[64, 32].requires_grad_()).sum().backward()
def rms_norm(x):
    size = x.pow(2).mean(-1, keepdim=True)  # fw: fused; bw: fused
    return x * torch.rsqrt(size + 1e-6)  # fw: fused; bw: fused


# fullgraph: cumulated(f32[64, 32].requires_grad_()).sum().backward()
def cumulated(x):
    y = x.neg()  # fw: fused; bw: fused
    return torch.cumsum(y, dim=1)  # fw: cumsum; bw: cumsum fused fused


# fullgraph: largest(f32[64, 32].requires_grad_()).sum().backward()
def largest(x):
    y = x.abs()  # fw: fused; bw: fused
    return y.amax(dim=1)  # fw: fused; bw: fused


# fullgraph: in_order(f32[64, 32].requires_grad_()).sum().backward()
def in_order(x):
    ordered, _ = torch.sort(x, dim=1)  # fw: sort; bw: fused
    return ordered * 2  # fw: fused; bw: fused
