"""What torch.compile returns is not an instance of the module's class: the compiler is not at fault."""

# stage: uncompiled
# failure: error TypeError forward
# nodes: 0

import torch


class Block(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


def checked(block):
    if not isinstance(block, Block):
        raise TypeError("not a block")
    return block


if __name__ == "__main__":
    block = torch.compile(Block())  # fault
    block(torch.ones(3))
    checked(block)
