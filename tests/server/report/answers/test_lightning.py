"""Advice to compile networks and not the ``LightningModule``: where Lightning's own code is the cause."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    ClassPlace,
    Fact,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    LightningCompiled,
    Network,
    Recompile,
    RecompileLimit,
    StackFrame,
)
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.workspace import Workspace

TEXT = """\
class Net(Module):
    def forward(self, x):
        return x

class Lit(LightningModule):
    def training_step(self, batch, index):
        loss = self.net(batch)
        self.log("loss", loss)
        self.head.weight
        return loss

    def validation_step(self, batch, index):
        return self.decoder(self.encoder(batch))

    def show(self):
        return self.encoder[0]

trainer.fit(compile(Lit()))
"""
SITE = "/usr/lib/python3/site-packages"
FIT = StackFrame(f"{SITE}/lightning/pytorch/trainer/trainer.py", 9, "fit")
LOG = StackFrame(f"{SITE}/lightning/pytorch/core/module.py", 500, "log")
INSPECT = StackFrame("/usr/lib/python3.11/inspect.py", 9, "signature")
OTHER = StackFrame(f"{SITE}/other/net.py", 9, "forward")
COUNTER = "L['self']._trainer.fit_loop.epoch_progress.current.completed"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(TEXT)
    return str(path)


def findings(file: str, *facts: Fact, networks: tuple[Network, ...] = ()) -> tuple[Finding, ...]:
    """The findings of facts about ``training_step``, called by a trainer, which is compilation 0/0."""
    calls = (StackFrame(file, 18, "<module>"), FIT)
    about = [FrameStarted("0/0", "training_step", file, 6, calls)]
    known = [LightningCompiled("0/0", (ClassPlace(file, "Lit"),), networks)] if networks else []
    return fold(file, 1, "2.13.0", (*about, *known, *facts), Workspace(Path(file).parent), file).findings


def broken(*stack: StackFrame) -> GraphBreak:
    return GraphBreak("0/0", "GB0007", "Skipped", "", ("Set TORCH_X.",), "", "", stack, False, "")


def step(file: str, row: int = 8) -> StackFrame:
    return StackFrame(file, row, "training_step")


NET = (Network("net", in_place=True),)
ADVICE = (
    "Compile the network, not the LightningModule: write `self.net.compile()` right after it is set, with "
    "the options that `Lit` is compiled with, and do not compile `Lit` itself. (Not tried.)"
)


def test_a_break_in_lightnings_code_is_of_the_module_that_is_compiled(file: str) -> None:
    (found,) = findings(file, broken(step(file), LOG, INSPECT), networks=NET)
    assert found.hints == (ADVICE,)


def test_without_what_only_the_process_knows_nothing_is_advised(file: str) -> None:
    (found,) = findings(file, broken(step(file), LOG, INSPECT))
    assert found.hints == ("Set TORCH_X.",)


@pytest.mark.parametrize("inner", [(), (INSPECT,), (OTHER, LOG)])
def test_a_break_elsewhere_is_none_of_lightnings(file: str, inner: tuple[StackFrame, ...]) -> None:
    (found,) = findings(file, broken(step(file), *inner), networks=NET)
    assert found.hints == ("Set TORCH_X.",)


def test_what_a_network_calls_would_be_compiled_as_before(file: str) -> None:
    forward = StackFrame(file, 3, "forward")
    (found,) = findings(file, broken(step(file, 7), forward, LOG), networks=NET)
    assert found.hints == ("Set TORCH_X.",)


@pytest.mark.parametrize(
    "networks",
    [
        (Network("head", in_place=True),),
        (Network("other", in_place=True),),
        (Network("encoder", in_place=False),),
    ],
    ids=["not called", "not used", "an item is taken"],
)
def test_a_network_for_which_it_would_not_do_is_not_named(file: str, networks: tuple[Network, ...]) -> None:
    (found,) = findings(file, broken(step(file), LOG), networks=networks)
    assert found.hints == ("Set TORCH_X.",)
    (found,) = findings(file, broken(step(file), LOG), networks=(*networks, *NET))
    assert found.hints == (ADVICE,)


def test_where_only_torch_compile_does_it_names_in_checkpoints_are_told(file: str) -> None:
    networks = (Network("encoder", in_place=True), Network("decoder", in_place=False))
    (found,) = findings(file, broken(step(file), LOG), networks=networks)
    (hint,) = found.hints
    assert "write `self.encoder.compile()` and `self.decoder = torch.compile(self.decoder)` right" in hint
    assert hint.endswith("In checkpoints, names then begin with `decoder._orig_mod.`. (Not tried.)")


def counted(file: str, source: str, *stack: StackFrame) -> list[Fact]:
    """The facts of a recompilation for a number."""
    failure = GuardFailure("0/0", source, "EQUALS_MATCH", f"{source} == 0", "0", "1", None, stack)
    return [
        GuardInstalled("0/0", source, "EQUALS_MATCH", "0", f"{source} == 0", stack),
        FrameStarted("0/1", "training_step", file, 6, ()),
        Recompile("0/1", (failure,)),
    ]


def test_a_counter_of_the_trainer_is_lightnings_and_one_of_the_users_is_not(file: str) -> None:
    (found,) = findings(file, *counted(file, COUNTER, step(file)), networks=NET)
    assert (found.kind, found.hints) == ("recompile", (ADVICE,))
    (found,) = findings(file, *counted(file, "L['self'].step", step(file)), networks=NET)
    assert ADVICE not in found.hints


def test_a_limit_that_a_counter_reached_has_the_advice_too(file: str) -> None:
    limit = RecompileLimit("0/2", "training_step", file, 6, 2, "recompile_limit", False)
    told = findings(file, *counted(file, COUNTER, step(file)), limit, networks=NET)
    (found,) = (item for item in told if item.kind == "recompile-limit")
    assert found.hints[0] == ADVICE
