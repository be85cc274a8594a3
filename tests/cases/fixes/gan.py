"""WGAN-GP on a ring of 2-d gaussians. Started from the usual 50-line GAN, then grew."""
import math
import torch
import torch.nn as nn

torch.manual_seed(0)

Z_DIM, BATCH = 8, 128
LAMBDA_GP = 10.0
N_CRITIC = 2

class Generator(nn.Module):
    def __init__(self, z_dim, h=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(z_dim, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 2))

    def forward(self, z):
        return self.net(z) * 2.0

class Critic(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)

def sample_real(n):
    k = torch.randint(0, 8, (n,))
    ang = k * (2 * math.pi / 8)
    return torch.stack([ang.cos(), ang.sin()], 1) * 2 + 0.05 * torch.randn(n, 2)

def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    x = (eps * real + (1 - eps) * fake).requires_grad_(True)
    g, = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()

@torch.compile
def wasserstein_loss(critic, real, fake, history):
    d_real = critic(real)
    d_fake = critic(fake)
    w = d_real.mean() - d_fake.mean()
    history.append(w.item())          # for the plot
    if torch.isnan(w):
        raise RuntimeError("critic diverged")
    # small drift term keeps the critic output near zero
    return -w + 1e-3 * (d_real ** 2).mean()

G = Generator(Z_DIM)
D = Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
G_fast = torch.compile(G)

w_hist = []
for it in range(60):
    for _ in range(N_CRITIC):
        real = sample_real(BATCH)
        with torch.no_grad():
            fake = G_fast(torch.randn(BATCH, Z_DIM))
        loss_d = wasserstein_loss(D, real, fake, w_hist) + LAMBDA_GP * gradient_penalty(D, real, fake)
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

    loss_g = -D(G_fast(torch.randn(BATCH, Z_DIM))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

print("critic loss %.4f" % loss_d.item())
print("gen loss    %.4f" % loss_g.item())
print("wasserstein first/last %.4f %.4f (n=%d)" % (w_hist[0], w_hist[-1], len(w_hist)))
