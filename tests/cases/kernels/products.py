"""Matrix products, convolutions and attention: library functions, and the kernels around them."""

import torch
import torch.nn.functional as F


# fullgraph: matmul(f32[64, 32].requires_grad_(), f32[32, 16].requires_grad_()).sum().backward()
def matmul(x, w):
    return x @ w  # fw: mm; bw: mm mm


# fullgraph: epilogue(f32[64, 32].requires_grad_(), f32[32, 16].requires_grad_()).sum().backward()
def epilogue(x, w):
    y = x @ w  # fw: mm; bw: mm mm
    y = F.gelu(y)  # fw: fused; bw: fused
    return y * 2  # fw: fused; bw: fused


# fullgraph: linear(f32[64, 32].requires_grad_(), f32[16, 32].requires_grad_(), f32[16]).sum().backward()
def linear(x, w, b):
    y = F.linear(x, w, b)  # fw: addmm; bw: mm mm
    return y.relu()  # fw: fused; bw: fused


# fullgraph: batched(f32[4, 8, 16].requires_grad_(), f32[4, 16, 8].requires_grad_()).sum().backward()
def batched(x, y):
    z = torch.bmm(x, y)  # fw: bmm; bw: bmm bmm
    return z.sigmoid()  # fw: fused; bw: fused


# fullgraph: convolution(f32[2, 3, 16, 16], f32[8, 3, 3, 3].requires_grad_()).sum().backward()
def convolution(x, w):
    y = F.conv2d(x, w)  # fw: convolution; bw: convolution_backward [fused]
    return y.relu()  # fw: fused; bw: fused


# fullgraph: attention(f32[2, 4, 8, 16].requires_grad_(), f32[2, 4, 8, 16]).sum().backward()
def attention(q, k):
    scores = q @ k.transpose(-2, -1)  # fw: bmm fused; bw: bmm fused
    weights = torch.softmax(scores.tanh(), dim=-1)  # fw: fused; bw: fused
    return weights @ k  # fw: bmm; bw: bmm fused


# fullgraph: fused_attention(f32[2, 4, 8, 16].requires_grad_()).sum().backward()
def fused_attention(q):
    y = F.scaled_dot_product_attention(q, q, q)  # fw: _scaled_dot_product_flash_attention_for_cpu; bw: _scaled_dot_product_flash_attention_for_cpu_backward fused fused
    return y.tanh()  # fw: fused; bw: fused


# fullgraph: embedding(i64[64], f32[10, 32].requires_grad_()).sum().backward()
def embedding(index, table):
    rows = F.embedding(index, table)  # fw: fused; bw: fused
    return rows.exp()  # fw: fused; bw: fused


# fullgraph: scattered(f32[64, 32].requires_grad_(), i64[64, 32]).sum().backward()
def scattered(x, index):
    start = torch.zeros(64, 32, device=x.device)  # fw: fused (it has no gradient)
    y = start.scatter_add(0, index, x)  # fw: fused; bw: fused
    return y.cos()  # fw: fused; bw: fused


# fullgraph: gathered(f32[64, 32].requires_grad_(), i64[64, 8]).sum().backward()
def gathered(x, index):
    y = torch.gather(x, 1, index)  # fw: fused; bw: fused
    return y + 1  # fw: fused (its gradient is that of the result)
