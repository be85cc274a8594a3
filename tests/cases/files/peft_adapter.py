"""An adapter of a model is saved over an older one, and loaded."""

import os

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

CONFIG = GPT2Config(
    vocab_size=32, n_positions=16, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
)
DATA = [{"input_ids": torch.arange(8), "labels": torch.arange(8)} for _ in range(8)]

os.replace("model.safetensors", "out/adapter_model.safetensors")
model = get_peft_model(
    GPT2LMHeadModel(CONFIG), LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True)
)
optimizer = torch.optim.AdamW(model.parameters())
torch.compile(model)(input_ids=DATA[0]["input_ids"][None], labels=DATA[0]["labels"][None]).loss.backward()
optimizer.step()
model.save_pretrained("out")
assert os.path.getsize("out/adapter_model.safetensors") > 0
PeftModel.from_pretrained(GPT2LMHeadModel(CONFIG), "out").merge_and_unload().save_pretrained(".")
print("end peft_adapter")
