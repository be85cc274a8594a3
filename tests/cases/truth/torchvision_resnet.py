"""torchvision: a ResNet learns and is evaluated on other sizes of images."""
# needs: torchvision

import torch
from torchvision.models.resnet import BasicBlock, ResNet

if __name__ == "__main__":
    torch.manual_seed(0)
    model = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=4, width_per_group=64)
    compiled = torch.compile(model)
    for size in (4, 2):
        compiled(torch.randn(size, 3, 32, 32)).sum().backward()
    model.eval()
    with torch.no_grad():
        compiled(torch.randn(2, 3, 32, 32))
        compiled(torch.randn(2, 3, 48, 48))
