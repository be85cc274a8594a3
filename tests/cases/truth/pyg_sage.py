"""PyG: GraphSAGE and attention over graphs in the form of Data, with a loader."""
# needs: torch_geometric

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, SAGEConv


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(8, 16), GATConv(16, 4, heads=2)

    def forward(self, data):
        return self.second(self.first(data.x, data.edge_index).relu(), data.edge_index)


if __name__ == "__main__":
    torch.manual_seed(0)
    graphs = [
        Data(x=torch.randn(n, 8), edge_index=torch.randint(0, n, (2, 3 * n))) for n in (5, 7, 6, 9, 8)
    ]
    model = torch.compile(Net())
    for batch in DataLoader(graphs, batch_size=2):
        model(batch).sum().backward()
