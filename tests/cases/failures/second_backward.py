"""The results of a graph have one backward, which frees what it has saved: the graph alone passes."""

# stage: compiled
# failure: error RuntimeError forward
# nodes: 0

import torch


@torch.compile
def parts(x):
    return x.unbind(0)


if __name__ == "__main__":
    for part in parts(torch.ones(2, 3, requires_grad=True)):
        part.sum().backward()  # fault
