"""A small GPT: training with a schedule, evaluation without gradients, generation with growing input."""

import math

import torch
import torch.nn.functional as F


class Block(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(dim), torch.nn.LayerNorm(dim)
        self.qkv, self.project = torch.nn.Linear(dim, 3 * dim), torch.nn.Linear(dim, dim)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(dim, 4 * dim), torch.nn.GELU(), torch.nn.Linear(4 * dim, dim))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (part.view(B, T, self.heads, C // self.heads).transpose(1, 2) for part in self.qkv(self.first(x)).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.second(x))


class GPT(torch.nn.Module):
    def __init__(self, vocabulary=64, block=32, dim=32, heads=4, layers=2):
        super().__init__()
        self.block = block
        self.tokens, self.positions = torch.nn.Embedding(vocabulary, dim), torch.nn.Embedding(block, dim)
        self.blocks = torch.nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.head = torch.nn.Linear(dim, vocabulary, bias=False)
        self.tokens.weight = self.head.weight

    def forward(self, index, targets=None):
        b, t = index.size()
        assert t <= self.block, f"a sequence of length {t}"
        x = self.tokens(index) + self.positions(torch.arange(0, t))
        for block in self.blocks:
            x = block(x)
        if targets is None:
            return self.head(x[:, [-1], :]), None
        logits = self.head(x)
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


def rate(step):
    return 1e-3 * 0.5 * (1 + math.cos(math.pi * step / 10))


if __name__ == "__main__":
    torch.manual_seed(0)
    model = GPT()
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(4):
        if step % 2 == 0:
            model.eval()
            with torch.no_grad():
                compiled(torch.randint(0, 64, (4, 16)), torch.randint(0, 64, (4, 16)))
            model.train()
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        _, loss = compiled(torch.randint(0, 64, (4, 16)), torch.randint(0, 64, (4, 16)))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    model.eval()
    index = torch.randint(0, 64, (1, 4))
    with torch.no_grad():
        for _ in range(4):
            logits, _ = compiled(index)
            index = torch.cat((index, logits[:, -1].argmax(-1, keepdim=True)), 1)
