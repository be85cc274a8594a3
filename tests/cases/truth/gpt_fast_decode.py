"""Decoding with a cache of keys and values in buffers, prefill and single tokens compiled apart."""

import torch
import torch.nn.functional as F


class Attention(torch.nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = torch.nn.Linear(dim, 3 * dim), torch.nn.Linear(dim, dim)
        self.register_buffer("keys", torch.zeros(1, heads, length, dim // heads))
        self.register_buffer("values", torch.zeros(1, heads, length, dim // heads))

    def forward(self, x, positions, mask):
        q, k, v = (
            part.view(1, x.shape[1], self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)
        )
        self.keys[:, :, positions] = k
        self.values[:, :, positions] = v
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class Decoder(torch.nn.Module):
    def __init__(self, dim=32, heads=4, length=32):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(64, dim), torch.nn.Linear(dim, 64)
        self.layers = torch.nn.ModuleList(Attention(dim, heads, length) for _ in range(2))
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool)))

    def forward(self, tokens, positions):
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + layer(x, positions, self.mask[positions][None, None])
        return self.head(x)


def sample(logits, temperature):
    probs = torch.softmax(logits[:, -1] / temperature, -1)
    return (probs / torch.empty_like(probs).exponential_(1)).argmax(-1, keepdim=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Decoder().eval()
    prefill = torch.compile(model, dynamic=True)
    decode = torch.compile(lambda tokens, positions: sample(model(tokens, positions), 0.8), fullgraph=True)
    with torch.no_grad():
        for length in (6, 9):
            token = sample(prefill(torch.randint(0, 64, (1, length)), torch.arange(length)), 0.8)
            for position in range(length, length + 5):
                token = decode(token, torch.tensor([position]))
