"""torchvision: a detector looks at one image, then at two of other sizes."""
# needs: torchvision

import torch
from torchvision.models.detection import FCOS
from torchvision.models.detection.anchor_utils import AnchorGenerator


class Backbone(torch.nn.Module):
    out_channels = 16

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(3, 16, 3, stride=8, padding=1)

    def forward(self, x):
        return self.layer(x)


if __name__ == "__main__":
    torch.manual_seed(0)
    anchors = AnchorGenerator(sizes=((16,),), aspect_ratios=((1.0,),))
    model = FCOS(Backbone(), 3, min_size=64, max_size=96, anchor_generator=anchors).eval()
    compiled = torch.compile(model)
    with torch.no_grad():
        compiled([torch.rand(3, 64, 64)])
        compiled([torch.rand(3, 64, 80), torch.rand(3, 48, 64)])
