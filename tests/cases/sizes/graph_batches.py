"""Graphs with other numbers of nodes and of edges."""

import torch


@torch.compile
def propagate(x, edges):
    gathered = x[edges[0]]
    degree = torch.zeros(x.shape[0]).index_add(0, edges[1], torch.ones(edges.shape[1]))
    return torch.zeros_like(x).index_add(0, edges[1], gathered) / degree.clamp(min=1).unsqueeze(1)


if __name__ == "__main__":
    torch.manual_seed(0)
    for nodes, count in ((8, 20), (11, 20), (5, 33)):
        x = torch.randn(nodes, 4)
        edges = torch.randint(0, nodes, (2, count))
        propagate(x, edges)
