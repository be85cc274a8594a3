"""Advantage actor-critic on a tiny 1-d corridor. The agent starts in the middle, goal on the right."""
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

random.seed(3)
torch.manual_seed(3)
GAMMA, LENGTH, MAX_STEPS = 0.97, 11, 40

class Corridor:
    def reset(self):
        self.pos, self.t = LENGTH // 2, 0
        return self._obs()

    def _obs(self):
        return np.eye(LENGTH, dtype=np.float32)[self.pos]

    def step(self, a):
        self.t += 1
        slip = random.random() < 0.1   # wet floor
        self.pos = max(0, self.pos + (1 if a == 1 else -1) - slip)
        done = self.pos >= LENGTH - 1 or self.t >= MAX_STEPS
        r = 1.0 if self.pos >= LENGTH - 1 else -0.02
        self.pos = min(self.pos, LENGTH - 1)
        return self._obs(), r, done

class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LENGTH, 64), nn.Tanh())
        self.pi = nn.Linear(64, 2)
        self.v = nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), self.v(h).squeeze(-1)

@torch.compile
def act(net, obs):
    logits, value = net(obs)
    action = Categorical(logits=logits).sample()
    return action.item(), value

@torch.compile
def a2c_loss(net, obs, actions, returns):
    logits, values = net(obs)
    adv = returns - values
    # normalising a single-step episode gives nan
    if adv.std() > 1e-6:
        norm_adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    else:
        norm_adv = adv
    dist = Categorical(logits=logits)
    pg = -(dist.log_prob(actions) * norm_adv.detach()).mean()
    return pg + 0.5 * F.mse_loss(values, returns) - 0.01 * dist.entropy().mean()

env, net = Corridor(), ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
ep_len, ep_ret = [], []
for ep in range(25):
    obs, done = env.reset(), False
    O, A, R = [], [], []
    while not done:
        with torch.no_grad():
            a, _ = act(net, torch.from_numpy(obs))
        O.append(obs)
        obs, r, done = env.step(a)
        A.append(a); R.append(r)
    G, out = 0.0, []
    for r in reversed(R):
        G = r + GAMMA * G
        out.insert(0, G)
    loss = a2c_loss(net, torch.from_numpy(np.stack(O)), torch.tensor(A), torch.tensor(out))
    opt.zero_grad(); loss.backward(); opt.step()
    ep_len.append(len(R)); ep_ret.append(sum(R))
print("last loss", round(loss.item(), 4), "episode lengths", ep_len[-5:])
print("mean return %.4f" % np.mean(ep_ret))
