"""Neural ODE fitted to a damped spiral, adaptive Heun-Euler with step rejection."""
import math
import torch
import torch.nn as nn

torch.manual_seed(17)

class VectorField(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.nfe = 0

    def forward(self, t, y):
        self.nfe += 1
        return self.net(y ** 3)

@torch.compile
def heun_step(f, t, y, h, rtol, atol):
    """one trial step: returns (accepted, y_new, next_h)"""
    k1 = f(t, y)
    k2 = f(t + h, y + h * k1)
    y_new = y + 0.5 * h * (k1 + k2)
    err = 0.5 * h * (k2 - k1)
    tol = atol + rtol * torch.maximum(y.abs(), y_new.abs())
    ratio = (err / tol).pow(2).mean().sqrt().item()
    accepted = ratio <= 1.0
    factor = 0.9 * ratio ** -0.5 if ratio > 0 else 5.0
    h_next = h * min(5.0, max(0.2, factor))
    return accepted, y_new, h_next

def odeint(f, y, t0, t1, h=0.1, rtol=5e-3, atol=5e-3):
    t, n_acc, n_rej = t0, 0, 0
    while t < t1 - 1e-9:
        h = min(h, t1 - t)
        ok, y_new, h_next = heun_step(f, t, y, h, rtol, atol)
        if ok:
            t, y = t + h, y_new
            n_acc += 1
        else:
            n_rej += 1
        h = h_next
    return y, n_acc, n_rej

# target: y' = A y^3
A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])

def true_flow(y, t1, n=200):
    dt = t1 / n
    for _ in range(n):
        k = (y ** 3) @ A.T
        y = y + dt * ((y + 0.5 * dt * k) ** 3) @ A.T
    return y

func = VectorField()
opt = torch.optim.Adam(func.parameters(), lr=2e-2)
for it in range(25):
    ang = torch.rand(32) * 2 * math.pi
    y0 = torch.stack([ang.cos(), ang.sin()], 1)
    target = true_flow(y0, 0.5)
    pred, acc, rej = odeint(func, y0, 0.0, 0.5)
    loss = (pred - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 8 == 0:
        print("it %d loss %.5f accepted %d rejected %d" % (it, loss.item(), acc, rej))
print("final loss %.5f" % loss.item(), "nfe", func.nfe)
