"""A model of segments: an encoder of images, and a decoder of masks for any number of points and boxes."""

import torch
import torch.nn.functional as F


class Prompts(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("gaussian", torch.randn(2, dim // 2))
        self.labels = torch.nn.Embedding(4, dim)
        self.no_mask = torch.nn.Parameter(torch.randn(dim))

    def embed(self, points):
        points = (2 * points - 1) @ self.gaussian
        return torch.cat([points.sin(), points.cos()], -1)

    def forward(self, points, labels, boxes):
        sparse = []
        if points is not None:
            sparse.append(self.embed(points) + self.labels(labels))
        if boxes is not None:
            sparse.append(self.embed(boxes.view(-1, 2, 2)) + self.labels.weight[2:])
        return torch.cat(sparse, 1)


class Segmenter(torch.nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.image = torch.nn.Conv2d(3, dim, 8, stride=8)
        self.prompts = Prompts(dim)
        self.attend = torch.nn.MultiheadAttention(dim, 4, batch_first=True)
        self.up = torch.nn.ConvTranspose2d(dim, dim // 4, 2, stride=2)
        self.mask = torch.nn.Linear(dim, dim // 4)

    def forward(self, image, points=None, labels=None, boxes=None):
        features = self.image(image)
        tokens = self.prompts(points, labels, boxes)
        keys = features.flatten(2).transpose(1, 2).expand(tokens.shape[0], -1, -1)
        queries = self.attend(tokens, keys, keys, need_weights=False)[0]
        masks = torch.einsum("bnc,xchw->bnhw", self.mask(queries), self.up(features))
        return F.interpolate(masks, image.shape[-2:], mode="bilinear")


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Segmenter().eval())
    image = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        for count in (1, 2, 5):
            model(image, torch.rand(1, count, 2), torch.ones(1, count, dtype=torch.long))
        model(image, boxes=torch.rand(1, 4))
        model(image, boxes=torch.rand(3, 4))
