"""Lightning resumes from its own checkpoint, and writes over it."""

import os

import lightning
import torch
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


def trainer(epochs):
    return lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


first = trainer(1)
first.fit(Module(), data)
first.save_checkpoint("best.ckpt")
second = trainer(2)
second.fit(Module(), data, ckpt_path="best.ckpt")
second.save_checkpoint("best.ckpt")
second.save_checkpoint("m.pt", weights_only=True)
assert torch.load("best.ckpt", weights_only=False)["epoch"] == 2
assert Module.load_from_checkpoint("m.pt", weights_only=False).model.weight.shape == (4, 4)
print("end lightning_resume")
