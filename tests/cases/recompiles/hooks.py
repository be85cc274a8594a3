"""A hook is added after the first call."""

# cause: length of `self.act._forward_hooks` is no longer 0
# advice: act.register_forward_hook(

import torch


def halve(module, args, result):
    return result / 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act = torch.nn.ReLU()

    def forward(self, x):
        return self.act(x)  # expect: recompile [self.act]


if __name__ == "__main__":
    model = Net()
    torch._dynamo.config.skip_nnmodule_hook_guards = False
    compiled = torch.compile(model)
    # fix: model.act.register_forward_hook(halve)
    compiled(torch.ones(4))
    model.act.register_forward_hook(halve)  # fix: pass
    compiled(torch.ones(4))
