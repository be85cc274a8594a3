"""transformers: T5, a training step and two evaluations with other lengths."""
# needs: transformers

import torch
from transformers import T5Config, T5ForConditionalGeneration

if __name__ == "__main__":
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    compiled = torch.compile(model)
    for source, target in ((8, 6), (8, 6), (10, 7)):
        labels = torch.randint(1, 64, (2, target))
        compiled(input_ids=torch.randint(1, 64, (2, source)), labels=labels).loss.backward()
    model.eval()
    with torch.no_grad():
        compiled(input_ids=torch.randint(1, 64, (2, 8)), labels=labels)
