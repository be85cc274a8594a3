"""Small Trainer with callbacks (history, early stopping). Regression on a noisy sine."""
import math, time
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(123)
class History:
    def __init__(self):
        self.batch, self.val = [], []

    def on_batch_end(self, trainer, loss):
        self.batch.append(float(loss))

    def on_epoch_end(self, trainer, val):
        self.val.append(val)

class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.best, self.bad = patience, math.inf, 0

    def on_batch_end(self, trainer, loss):
        pass

    def on_epoch_end(self, trainer, val):
        if val < self.best - 1e-4:
            self.best, self.bad = val, 0
        else:
            self.bad += 1
        trainer.should_stop = self.bad >= self.patience

class Trainer:
    def __init__(self, model, lr=1e-2, warmup=20, callbacks=()):
        self.model = model
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.warmup = warmup
        self.callbacks = list(callbacks)
        self.global_step, self.should_stop = 0, False
        self.compute_loss = torch.compile(self._compute_loss)

    def _compute_loss(self, x, y):
        t0 = time.perf_counter()
        self.global_step += 1
        pred = self.model(x)
        # huber early on, mse after warmup
        if self.global_step <= self.warmup:
            loss = F.smooth_l1_loss(pred, y)
        else:
            loss = F.mse_loss(pred, y)
        for cb in self.callbacks:
            cb.on_batch_end(self, loss)
        self.last_time = time.perf_counter() - t0
        return loss

    def fit(self, train, val, epochs):
        for epoch in range(epochs):
            self.model.train()
            for x, y in train:
                loss = self.compute_loss(x, y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            self.model.eval()
            with torch.no_grad():
                v = F.mse_loss(self.model(val[0]), val[1]).item()
            for cb in self.callbacks:
                cb.on_epoch_end(self, v)
            if self.should_stop:
                return print("early stop at epoch", epoch)

# data
x = torch.linspace(-3, 3, 400).unsqueeze(1)[torch.randperm(400)]
y = torch.sin(2 * x) + 0.05 * torch.randn_like(x)
train = list(zip(x[:320].split(32), y[:320].split(32)))
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
hist = History()
tr = Trainer(net, callbacks=[hist, EarlyStopping()])
tr.fit(train, (x[320:], y[320:]), epochs=15)
print("steps", tr.global_step, len(hist.batch))
print("first/last batch loss %.4f %.4f, best val %.4f" % (hist.batch[0], hist.batch[-1], min(hist.val)))
