"""timm: a vision transformer with dropped paths learns; the forward of its features as well."""
# needs: timm

import timm
import torch

if __name__ == "__main__":
    torch.manual_seed(0)
    model = timm.create_model(
        "vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=2, num_classes=4,
        drop_path_rate=0.1,
    )
    compiled = torch.compile(model)
    for size in (4, 4, 2):
        compiled(torch.randn(size, 3, 32, 32)).sum().backward()
    model.eval()
    features = torch.compile(model.forward_features)
    with torch.no_grad():
        features(torch.randn(2, 3, 32, 32))
        features(torch.randn(3, 3, 32, 32))
