"""PyG: a graph network over batches of graphs, all of other sizes."""
# needs: torch_geometric

import torch
from torch_geometric.nn import GCNConv, global_mean_pool


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(8, 16), GCNConv(16, 4)

    def forward(self, x, edges, batch):
        x = self.first(x, edges).relu()
        return global_mean_pool(self.second(x, edges), batch)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Net()
    compiled = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters())
    for nodes, edges in ((10, 20), (12, 30), (9, 25), (14, 40)):
        batch = (torch.arange(nodes) >= nodes // 2).long()
        compiled(torch.randn(nodes, 8), torch.randint(0, nodes, (2, edges)), batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
