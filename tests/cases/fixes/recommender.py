"""Two-tower recommender: user history as an EmbeddingBag, BPR loss with sampled negatives."""
import logging
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.WARNING)
log = logging.getLogger("recsys")
random.seed(11)
torch.manual_seed(11)

N_ITEMS, DIM, N_NEG = 500, 32, 5

class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.hist = nn.EmbeddingBag(N_ITEMS, DIM, mode="mean", include_last_offset=False)
        self.item = nn.Embedding(N_ITEMS, DIM)
        self.bias = nn.Parameter(torch.zeros(N_ITEMS))
        self.seen = 0

    def user(self, flat, offsets):
        return self.hist(flat, offsets)

    def score(self, u, items):
        e = self.item(items)
        return (u.unsqueeze(1) * e).sum(-1) + self.bias[items]

    def forward(self, flat, offsets, pos):
        self.seen += pos.size(0)
        u = self.user(flat, offsets)
        neg = torch.randint(0, N_ITEMS, (pos.size(0), N_NEG))
        # resample accidental hits once, good enough
        hits = neg == pos.unsqueeze(1)
        if hits.any():
            neg[hits] = torch.randint(0, N_ITEMS, (int(hits.sum()),))
        s_pos = self.score(u, pos.unsqueeze(1))
        s_neg = self.score(u, neg)
        log.debug("pos %.3f neg %.3f", s_pos.mean(), s_neg.mean())
        return -F.logsigmoid(s_pos - s_neg).mean()

def make_users(n):
    users = []
    for _ in range(n):
        taste = random.randrange(10)
        pool = range(taste * 50, taste * 50 + 50)
        users.append(([random.choice(pool) for _ in range(8)], random.choice(pool)))
    return users

def batches(users, bs):
    random.shuffle(users)
    for i in range(0, len(users), bs):
        chunk = users[i:i + bs]
        flat = torch.tensor([it for h, _ in chunk for it in h])
        offsets = torch.arange(0, len(flat), 8)
        yield flat, offsets, torch.tensor([p for _, p in chunk])

users = make_users(300)
net = TwoTower()
model = torch.compile(net)
opt = torch.optim.Adagrad(net.parameters(), lr=0.1)

for epoch in range(3):
    tot, n = 0.0, 0
    for flat, offsets, pos in batches(users, 64):
        loss = model(flat, offsets, pos)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
        n += 1
    print("epoch %d bpr %.4f" % (epoch, tot / n))

with torch.no_grad():
    u = net.user(torch.tensor(users[0][0]), torch.tensor([0]))
    top = net.score(u, torch.arange(N_ITEMS).unsqueeze(0)).topk(5).indices
print("seen", net.seen, "top items", top.tolist())
