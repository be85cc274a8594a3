"""Elementwise operations, and what is fused with them."""

import torch


# fullgraph: pointwise(f32[64, 32].requires_grad_()).sum().backward()
def pointwise(x):
    y = x.sin()  # fw: fused; bw: fused
    z = y * 2 + 1  # fw: fused; bw: fused
    return z.exp()  # fw: fused; bw: fused


# fullgraph: where(f32[64, 32].requires_grad_(), f32[64, 32]).sum().backward()
def where(x, y):
    larger = x > y  # fw: fused (backward, its result is saved)
    return torch.where(larger, x * y, x - y)  # fw: fused; bw: fused


# fullgraph: cast(f32[64, 32].requires_grad_()).sum().backward()
def cast(x):
    half = x.half()  # fw: fused; bw: [fused] (a GPU casts back once)
    return half.tanh().float()  # fw: fused; bw: fused


# fullgraph: in_place(f32[64, 32])
def in_place(x):
    x.add_(1)  # fw: fused
    y = x.mul(2)  # fw: fused
    y.relu_()  # fw: fused
    return y  # none (nothing is computed)


# fullgraph: views(f32[64, 32].requires_grad_()).sum().backward()
def views(x):
    rows = x.view(32, 64)  # fw: fused; bw: fused
    columns = rows.transpose(0, 1)  # fw: fused; bw: fused
    first = columns[:10]  # fw: fused; bw: fused
    return first.cos()  # fw: fused; bw: fused


# fullgraph: joined(f32[64, 32].requires_grad_(), f32[64, 32].requires_grad_()).sum().backward()
def joined(x, y):
    left = x.sigmoid()  # fw: fused; bw: fused
    both = torch.cat([left, y], dim=1)  # fw: fused; bw: fused
    return both * 3  # fw: fused; bw: fused


# fullgraph: dynamic(f32[10].requires_grad_()).sum().backward()
# fullgraph: dynamic(f32[12].requires_grad_()).sum().backward()
def dynamic(x):
    y = x.cos()  # fw: fused fused; bw: fused fused
    return y / x.shape[0]  # fw: fused fused; bw: fused fused


# fullgraph: dropout(f32[64, 32].requires_grad_()).sum().backward()
def dropout(x):
    y = torch.nn.functional.dropout(x, 0.5)  # fw: fused [randint]; bw: fused
    return y.abs()  # fw: fused; bw: fused


# fullgraph: noise(f32[64, 32])
def noise(x):
    drawn = torch.rand(64, 32, device=x.device)  # fw: fused [randint]
    return x + drawn  # fw: fused
