"""The Trainer of transformers resumes from a checkpoint, and removes it later."""

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


Trainer(GPT2LMHeadModel(CONFIG), arguments(max_steps=2), train_dataset=DATA).train()
trainer = Trainer(GPT2LMHeadModel(CONFIG), arguments(max_steps=4, save_total_limit=1), train_dataset=DATA)
trainer.train(resume_from_checkpoint="checkpoints/checkpoint-1")
os.remove("checkpoints/step_1/model.pt")
assert trainer.state.global_step == 4
assert [name for name in os.listdir("checkpoints") if name.startswith("checkpoint")] == ["checkpoint-4"]
print("end transformers_resume")
