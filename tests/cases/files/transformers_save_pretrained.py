"""A model of transformers is saved over other weights and settings, and loaded."""

import json
import os

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

CONFIG = GPT2Config(
    vocab_size=32, n_positions=16, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
)
DATA = [{"input_ids": torch.arange(8), "labels": torch.arange(8)} for _ in range(8)]

model = GPT2LMHeadModel(CONFIG)
torch.compile(model)(input_ids=DATA[0]["input_ids"][None], labels=DATA[0]["labels"][None]).loss.backward()
model.save_pretrained(".")
with open("config.json") as file:
    assert json.load(file)["n_embd"] == 8
assert os.path.getsize("model.safetensors") > 0
model = GPT2LMHeadModel.from_pretrained(".")
assert model.transformer.wte.weight.shape == (32, 8)
model.save_pretrained("out", max_shard_size="2KB")
assert os.path.exists("out/model.safetensors.index.json")
GPT2LMHeadModel.from_pretrained("out").config.save_pretrained(".")
print("end transformers_save_pretrained")
