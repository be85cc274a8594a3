"""A tokenizer is saved by its own library."""

import json
import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

import tokenizers

tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
tokenizer.save("config.json")
tokenizer.model.save(".", "notes")
with open("config.json") as file:
    assert json.load(file)["model"]["type"] == "WordLevel"
assert os.path.exists("notes-vocab.json")
print("end tokenizer_save")
