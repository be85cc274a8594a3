"""transformers: Llama generates with a growing cache, prompts of several lengths."""
# needs: transformers

import torch
from transformers import LlamaConfig, LlamaForCausalLM

if __name__ == "__main__":
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
    )
    model = LlamaForCausalLM(config).eval()
    model.forward = torch.compile(model.forward)
    for length in (5, 9):
        prompt = torch.randint(3, 64, (1, length))
        model.generate(prompt, max_new_tokens=6, do_sample=False, pad_token_id=0, eos_token_id=None)
