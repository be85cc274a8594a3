"""What the logs beside this file are of, with one thing changed in each, which its name tells.

All but that of a first start (``cold``) found the caches that this one had left:
``CHANGE=code TORCH_TRACE=log TORCHINDUCTOR_CACHE_DIR=cache python program.py``. Records that have nothing to
do with caches are left out of the logs, and so are most of the settings in keys.
"""

import os

import torch

CHANGE = os.environ.get("CHANGE", "")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        if CHANGE == "code":
            return y.cos() + 1
        return y.sin() + 1


@torch.compile
def scaled(x):
    return torch.softmax(x, -1) * 2


@torch.compile
def chosen(x):
    return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


def main():
    net = torch.compile(Net())
    dtype = torch.bfloat16 if CHANGE == "dtype" else torch.float32
    net.to(dtype)
    x = torch.ones(6 if CHANGE == "shape" else 4, 8, dtype=dtype)
    if CHANGE == "stride":
        x = torch.ones(8, 4).t()
    if CHANGE == "config":
        torch._inductor.config.max_fusion_size = 32
    if CHANGE == "threads":
        torch.set_num_threads(1)
    if CHANGE == "tag":
        torch.compiler.config.cache_key_tag = "mine"
    if CHANGE == "pass":
        torch._inductor.config.post_grad_custom_post_pass = print
    if CHANGE == "freezing":
        torch._inductor.config.freezing = True
    if CHANGE == "off":
        torch._inductor.config.fx_graph_cache = False
    if CHANGE == "gradients":
        torch.set_grad_enabled(False)
    out = net(x)
    if out.requires_grad:
        out.sum().backward()
    if CHANGE == "recompiled":
        net(torch.ones(5, 8)).sum().backward()
    if CHANGE == "operator":
        chosen(torch.ones(4))
    torch._inductor.config.max_fusion_size = 64
    scaled(torch.ones(4, 8))


main()
