"""The Trainer of transformers saves each step and keeps the last two, where older ones lie."""

import os

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

CONFIG = GPT2Config(
    vocab_size=32, n_positions=16, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
)
DATA = [{"input_ids": torch.arange(8), "labels": torch.arange(8)} for _ in range(8)]


def arguments(**settings):
    return TrainingArguments(
        "checkpoints",
        per_device_train_batch_size=2,
        save_strategy="steps",
        save_steps=1,
        logging_steps=1,
        report_to="none",
        use_cpu=True,
        torch_compile=True,
        torch_compile_backend="eager",
        disable_tqdm=True,
        **settings,
    )


os.replace("checkpoints/step_1", "checkpoints/checkpoint-1")
os.replace("checkpoints/step_2", "checkpoints/checkpoint-2")
trainer = Trainer(GPT2LMHeadModel(CONFIG), arguments(max_steps=4, save_total_limit=2), train_dataset=DATA)
trainer.train()
trainer.save_model("out")
trainer.save_state()
assert sorted(os.listdir("checkpoints")) == ["checkpoint-3", "checkpoint-4", "step_3", "trainer_state.json"]
assert os.path.getsize("out/model.safetensors") > 0
print("end transformers_trainer")
