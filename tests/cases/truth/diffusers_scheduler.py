"""diffusers: the step of a scheduler is compiled, which keeps numbers in itself."""
# needs: diffusers

import torch
from diffusers import DDPMScheduler

if __name__ == "__main__":
    torch.manual_seed(0)
    scheduler = DDPMScheduler(num_train_timesteps=100)
    scheduler.set_timesteps(6)
    step = torch.compile(scheduler.add_noise)
    sample = torch.randn(2, 3, 8, 8)
    for time in scheduler.timesteps:
        sample = step(sample, torch.randn_like(sample), time.reshape(1))
