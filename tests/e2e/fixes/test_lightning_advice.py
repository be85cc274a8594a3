"""Who compiles a ``LightningModule`` as a whole is told to compile its networks, where that helps.

What the findings advise is done to the text, word by word, and the program runs again: they are gone, and
something is compiled still.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from forked import observe
from fullgraph_compiler.compat import call_compat
from fullgraph_compiler.facts import Script
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding, Report
from fullgraph_server.workspace.workspace import Workspace

# Not importorskip: Lightning replaces torch.compile, for all tests of a process.
pytestmark = [
    pytest.mark.skipif(find_spec("lightning") is None, reason="scripts/install_truth.sh installs it"),
    pytest.mark.slow,
]

PROGRAM = """\
import {package} as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.layer = nn.Linear(*sizes)

    def forward(self, x):
        return self.layer(x)

{classes}

torch.manual_seed(0)
data = TensorDataset(torch.randn(8, 8), torch.randint(0, 2, (8,)))
trainer = L.Trainer(
    max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)
model = Lit()
{compiled}
trainer.fit(model, DataLoader(data, 4), DataLoader(data, 4))
"""
OPTIMIZER = """
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
WHOLE = "model = torch.compile(model)"
IN_PLACE = "model.compile()"

LOGS = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
        self.loss = nn.CrossEntropyLoss()

    def training_step(self, batch, index):
        loss = self.loss(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss
"""
COUNTS = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.backbone(x))

    def training_step(self, batch, index):
        loss = F.cross_entropy(self(batch[0]), batch[1])
        if self.global_step % 2:
            loss = loss * 2
        return loss * (1 + self.trainer.current_epoch)

    def validation_step(self, batch, index):
        return self(batch[0]).sum()
"""
MANUAL = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = Net(8, 2)

    def training_step(self, batch, index):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = F.cross_entropy(self.net(batch[0]), batch[1])
        self.manual_backward(loss)
        optimizer.step()
"""
INHERITED = """
class Base(L.LightningModule):
    def training_step(self, batch, index):
        loss = self.reconstruct(batch[0])
        if self.current_epoch > 0:
            loss = loss * 0.5
        return loss


class Lit(Base):
    def __init__(self):
        super().__init__()
        self.encoder = Net(8, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.Tanh())

    def reconstruct(self, x):
        return F.mse_loss(self.decoder(self.encoder(x)), x)
"""
IN_FORWARD = """
class Lit(L.LightningModule):
    def configure_model(self):
        self.net = Net(8, 2)

    def forward(self, x):
        scale = self.trainer.current_epoch + 1
        return self.net(x) * scale

    def training_step(self, batch, index):
        return F.cross_entropy(self(batch[0]), batch[1])
"""
ADVISED = {
    "logs": (LOGS, WHOLE, "lightning"),
    "counts": (COUNTS, WHOLE, "lightning"),
    "manual": (MANUAL, WHOLE, "lightning"),
    "inherited": (INHERITED, WHOLE, "pytorch_lightning"),
    "in_forward": (IN_FORWARD, IN_PLACE, "lightning"),
}

OWN_PARAMETERS = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 2))

    def training_step(self, batch, index):
        return F.cross_entropy(batch[0] @ self.weight, batch[1]) * (1 + self.current_epoch)
"""
LAYERS = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 4)
        self.second = nn.Linear(4, 2)

    def training_step(self, batch, index):
        logits = self.second(self.first(batch[0]).relu())
        return F.cross_entropy(logits, batch[1]) * (1 + self.current_epoch)
"""
ITEMS = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))

    def training_step(self, batch, index):
        decay = self.net[0].weight.square().sum()
        return F.cross_entropy(self.net(batch[0]), batch[1]) * (1 + self.current_epoch) + decay
"""
ANOTHER_METHOD = """
class Logits(Net):
    def logits(self, x):
        return self(x)


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Logits(8, 2)

    def training_step(self, batch, index):
        return F.cross_entropy(self.net.logits(batch[0]), batch[1]) * (1 + self.current_epoch)
"""
NETWORK_KNOWS = """
class Knowing(nn.Linear):
    def forward(self, x):
        return super().forward(x) * (1 + self.around[0].current_epoch)


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Knowing(8, 2)
        self.net.around = [self]

    def training_step(self, batch, index):
        return F.cross_entropy(self.net(batch[0]), batch[1]) * (1 + self.current_epoch)
"""
OWN_BREAK = """
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net(8, 2)

    def training_step(self, batch, index):
        loss = F.cross_entropy(self.net(batch[0]), batch[1])
        print("loss")
        return loss
"""
SILENT = {
    "own_parameters": OWN_PARAMETERS,
    "layers": LAYERS,
    "another_method": ANOTHER_METHOD,
    "network_knows": NETWORK_KNOWS,
    "own_break": OWN_BREAK,
}
if call_compat.compiles_in_place(torch.nn.Linear(1, 1)):
    ADVISED["items"] = (ITEMS, WHOLE, "lightning")
else:
    SILENT["items"] = ITEMS  # which a result of torch.compile has not
_ADVICE = re.compile(r"^Compile the networks?, not the LightningModule: write ")
_STATEMENT = re.compile(r"`(self\.(\w+)(?:\.compile\(\)| = torch\.compile\(self\.\w+\)))`")


def report(folder: Path, text: str) -> Report:
    path = folder / "program.py"
    path.write_text(text)
    facts = observe(Script(str(path)), folder)
    return fold(str(path), 1, torch.__version__, facts, Workspace(folder))


def advised(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if any(map(_ADVICE.match, finding.hints))]


def followed(text: str, hint: str) -> str:
    """Do what an advice says."""
    for statement, name in _STATEMENT.findall(hint):
        assignment = re.compile(rf"^( +)(self\.{name} = .*)$", re.MULTILINE)
        text, times = assignment.subn(rf"\1\2\n\1{statement}", text)
        assert times == 1, name
    return text.replace(WHOLE, "").replace(IN_PLACE, "", 1)


@pytest.mark.parametrize("name", ADVISED)
def test_what_is_advised_takes_the_findings_away(name: str, tmp_path: Path) -> None:
    classes, compiled, package = ADVISED[name]
    text = PROGRAM.format(package=package, classes=classes + OPTIMIZER, compiled=compiled)
    before = report(tmp_path, text)
    told = advised(before.findings)
    assert told, [finding.message for finding in before.findings]
    (hint,) = {hint for finding in told for hint in finding.hints if _ADVICE.match(hint)}
    after = report(tmp_path, followed(text, hint))
    assert after.status == "finished"
    assert {finding.message for finding in told}.isdisjoint(finding.message for finding in after.findings)
    assert advised(after.findings) == []
    assert [finding.message for finding in after.findings if "lightning" in str(finding.stack)] == []
    assert sum(frame.graphs for frame in after.frames) > 0  # the networks are compiled


@pytest.mark.parametrize("name", SILENT)
def test_where_it_would_not_help_nothing_is_advised(name: str, tmp_path: Path) -> None:
    text = PROGRAM.format(package="lightning", classes=SILENT[name] + OPTIMIZER, compiled=WHOLE)
    told = report(tmp_path, text)
    assert [finding.kind for finding in told.findings if finding.kind in ("recompile", "graph-break")]
    assert advised(told.findings) == []
