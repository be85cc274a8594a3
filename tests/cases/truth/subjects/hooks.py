"""Hooks of modules, tensors and gradients."""

import sys

import torch


def forward_hook_added_later():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3))
    model.register_forward_hook(lambda module, args, output: output + 1)
    compiled(torch.ones(1, 3))


def forward_hook_removed():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3))
    handle = model[0].register_forward_hook(lambda module, args, output: output * 2)
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3))
    handle.remove()
    compiled(torch.ones(1, 3))


def forward_pre_hook():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    model[0].register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    compiled = torch.compile(model)
    for size in (1, 2, 3):
        compiled(torch.ones(size, 3))


def hook_keeps_activations():
    kept = []
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    model[0].register_forward_hook(lambda module, args, output: kept.append(output.detach()))
    compiled = torch.compile(model)
    for _ in range(3):
        compiled(torch.ones(1, 3))


def hook_keeps_in_dictionary():
    kept = {}

    def keep(module, args, output):
        kept["activation"] = output.detach()

    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    model[0].register_forward_hook(keep)
    compiled = torch.compile(model)
    for _ in range(3):
        compiled(torch.ones(1, 3))


def backward_hook_of_module():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    model[0].register_full_backward_hook(lambda module, inputs, outputs: None)
    compiled = torch.compile(model)
    for size in (1, 2):
        compiled(torch.ones(size, 3)).sum().backward()


def hook_of_tensor_inside():
    @torch.compile
    def f(x):
        y = x * 2
        y.register_hook(lambda grad: grad * 2)
        return y.sin()

    for _ in range(2):
        f(torch.ones(3, requires_grad=True)).sum().backward()


def hook_of_input():
    @torch.compile
    def f(x):
        return x.sin()

    x = torch.ones(3, requires_grad=True)
    f(x).sum().backward()
    x.register_hook(lambda grad: grad * 2)
    f(x).sum().backward()


def hook_after_accumulation():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3)).sum().backward()
    model.weight.register_post_accumulate_grad_hook(lambda parameter: parameter.grad.mul_(0.5))
    compiled(torch.ones(1, 3)).sum().backward()


def global_forward_hook():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3))
    torch.nn.modules.module.register_module_forward_hook(lambda module, args, output: None)
    compiled(torch.ones(1, 3))


def compiled_autograd():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    with torch._dynamo.config.patch(compiled_autograd=True):
        for size in (1, 2, 3):
            compiled(torch.ones(size, 3)).sum().backward()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
