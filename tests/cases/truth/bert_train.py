"""transformers: BERT learns to classify, batches of several lengths, evaluation between."""
# needs: transformers

import torch
from transformers import BertConfig, BertForSequenceClassification

if __name__ == "__main__":
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64,
    )
    model = BertForSequenceClassification(config)
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(2):
        model.train()
        for length in (8, 12, 16):
            tokens, labels = torch.randint(0, 64, (4, length)), torch.randint(0, 2, (4,))
            mask = torch.ones(4, length, dtype=torch.long)
            compiled(input_ids=tokens, attention_mask=mask, labels=labels).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            compiled(input_ids=tokens[:3], attention_mask=mask[:3])
