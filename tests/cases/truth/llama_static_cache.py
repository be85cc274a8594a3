"""transformers: Llama generates with a cache of fixed size."""
# needs: transformers

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

if __name__ == "__main__":
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
    )
    model = LlamaForCausalLM(config).eval()
    step = torch.compile(model.__call__)
    cache = StaticCache(config=config, max_cache_len=32)
    tokens = torch.randint(3, 64, (1, 5))
    position = torch.arange(5)
    with torch.no_grad():
        for _ in range(4):
            logits = step(tokens, past_key_values=cache, cache_position=position).logits
            tokens, position = logits[:, -1:].argmax(-1), position[-1:] + 1
