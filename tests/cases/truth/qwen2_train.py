"""transformers: a training loop around Qwen2 with a branch of the script and a smaller last batch."""
# needs: transformers

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

if __name__ == "__main__":
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64,
    )
    model = torch.compile(Qwen2ForCausalLM(config))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, size in enumerate((4, 4, 4, 2)):
        tokens = torch.randint(0, 64, (size, 16))
        output = model(input_ids=tokens, labels=tokens, use_cache=step % 2 == 1)
        output.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
