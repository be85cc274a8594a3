"""timm: a residual network learns, with batch-norm, a smaller last batch and evaluation."""
# needs: timm

import timm
import torch

if __name__ == "__main__":
    torch.manual_seed(0)
    model = timm.create_model("resnet10t", num_classes=4, stem_width=8, channels=(8, 8, 16, 16))
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(2):
        model.train()
        for size in (4, 4, 3):
            loss = torch.nn.functional.cross_entropy(
                compiled(torch.randn(size, 3, 32, 32)), torch.randint(0, 4, (size,))
            )
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        with torch.inference_mode():
            compiled(torch.randn(5, 3, 32, 32))
