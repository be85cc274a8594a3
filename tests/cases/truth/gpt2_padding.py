"""transformers: GPT-2 with left-padded batches, labels now and then."""
# needs: transformers

import torch
from transformers import GPT2Config, GPT2LMHeadModel

if __name__ == "__main__":
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=1, n_head=2))
    compiled = torch.compile(model)
    for length, padding in ((8, 0), (8, 2), (12, 3)):
        tokens = torch.randint(0, 64, (2, length))
        mask = torch.ones_like(tokens)
        mask[0, :padding] = 0
        compiled(tokens, attention_mask=mask, labels=tokens if padding else None)
