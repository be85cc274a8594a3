"""Lightning logs to a table in a folder that has one, and keeps all that it does by itself."""

import os

import lightning
import torch
from lightning.pytorch.loggers import CSVLogger
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

os.makedirs("runs/version_0", exist_ok=True)
os.replace("metrics.csv", "runs/version_0/metrics.csv")
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=CSVLogger(".", name="runs", version=0),
    log_every_n_steps=1,
    enable_progress_bar=False,
)
trainer.fit(Module(), data)
with open("runs/version_0/metrics.csv") as file:
    assert file.readline().strip() == "epoch,loss,step"
assert os.listdir("runs/version_0/checkpoints")
print("end lightning_logs")
