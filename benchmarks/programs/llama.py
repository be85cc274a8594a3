"""A tiny Llama with random weights, and one graph break around it."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=128,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
)


@torch.compile
def step(ids: torch.Tensor) -> torch.Tensor:
    logits = model(ids).logits
    print("step")
    return logits.mean()


if __name__ == "__main__":
    step(torch.randint(128, (2, 16)))
