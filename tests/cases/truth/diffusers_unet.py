"""diffusers: a U-Net removes noise in a loop with a scheduler."""
# needs: diffusers

import torch
from diffusers import DDIMScheduler, UNet2DModel

if __name__ == "__main__":
    torch.manual_seed(0)
    model = UNet2DModel(
        sample_size=8, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 16),
        norm_num_groups=4, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=8,
    ).eval()
    compiled = torch.compile(model)
    scheduler = DDIMScheduler(num_train_timesteps=100)
    scheduler.set_timesteps(4)
    with torch.no_grad():
        for size in (1, 2):
            sample = torch.randn(size, 3, 8, 8)
            for step in scheduler.timesteps:
                sample = scheduler.step(compiled(sample, step).sample, step, sample).prev_sample
