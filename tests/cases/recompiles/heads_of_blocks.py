"""Blocks with another number of heads share their code."""

# cause: `self.heads` was 2, is now 4
# advice: only computes with `self.heads`

import torch
# fix: torch._dynamo.config.allow_unspec_int_on_nn_module = True  # only computes with `self.heads`


class Block(torch.nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    @torch.compile  # fix: @torch.compile(dynamic=True)
    def forward(self, x):
        return x.view(self.heads, -1).softmax(-1)  # expect: recompile [self.heads]


if __name__ == "__main__":
    for block in (Block(2), Block(4)):
        block(torch.ones(24))
