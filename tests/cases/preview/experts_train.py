"""A mixture of experts: all of them compute, the gate weighs."""

# backward

import torch

device = "cuda"


@torch.compile
def mixture(x, gate, experts):
    weights, chosen = (x @ gate).softmax(-1).topk(2)
    kept = torch.zeros(x.shape[0], experts.shape[0], device=x.device).scatter(1, chosen, weights)
    outputs = torch.einsum("td,edf->tef", x, experts).relu()
    return (outputs * kept[..., None]).sum(1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(128, 64, device=device, requires_grad=True)
    gate = torch.randn(64, 4, device=device, requires_grad=True)
    experts = torch.randn(4, 64, 96, device=device, requires_grad=True)
    out = mixture(x, gate, experts)
    out.square().mean().backward()
