"""Lightning saves checkpoints as it trains, over those of an earlier run, and keeps the last ones."""

import os
import shutil

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torch.compile(nn.Linear(4, 4))

    def training_step(self, batch, _):
        loss = self.model(batch[0]).square().mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = DataLoader(TensorDataset(torch.randn(8, 4)), 2)

os.replace("best.ckpt", "out/last.ckpt")
saving = ModelCheckpoint(
    "out",
    filename="{step}",
    monitor="step",
    mode="max",
    save_top_k=2,
    save_last=True,
    every_n_train_steps=1,
    enable_version_counter=False,
)
trainer = lightning.Trainer(
    max_epochs=2,
    accelerator="cpu",
    callbacks=[saving],
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Module(), data)
shutil.rmtree("checkpoints")
names = os.listdir("out")
assert trainer.global_step == 8 and len([name for name in names if name.startswith("step=")]) == 2
assert torch.load("out/last.ckpt", weights_only=False)["global_step"] == 8
print("end lightning_checkpoints")
