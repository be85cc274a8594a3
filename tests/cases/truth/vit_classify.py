"""transformers: ViT with images of two sizes, and with hidden states."""
# needs: transformers

import torch
from transformers import ViTConfig, ViTForImageClassification

if __name__ == "__main__":
    torch.manual_seed(0)
    config = ViTConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, image_size=32,
        patch_size=8, num_labels=4,
    )
    model = torch.compile(ViTForImageClassification(config).eval())
    with torch.no_grad():
        model(torch.randn(2, 3, 32, 32))
        model(torch.randn(3, 3, 32, 32))
        model(torch.randn(2, 3, 48, 48), interpolate_pos_encoding=True)
        model(torch.randn(2, 3, 32, 32), output_hidden_states=True)
