"""The modules that a model repeats, which can be compiled one by one."""

from __future__ import annotations

import pytest
from fullgraph_compiler.measure.variants import CompileUsage, repeated
from torch import nn


class Norm(nn.Module):
    """Made of no other modules."""


class Block(nn.Module):
    """Made of others, of which two are alike."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = Norm(), Norm()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)


class Model(nn.Module):
    def __init__(self, **children: nn.Module) -> None:
        super().__init__()
        for name, child in children.items():
            self.add_module(name, child)


@pytest.mark.parametrize(
    ("model", "blocks"),
    [
        (Model(blocks=nn.ModuleList([Block(), Block(), Block()]), head=nn.Linear(2, 2)), ["Block"] * 3),
        (Model(one=nn.Sequential(Block(), Block()), two=nn.Sequential(Block(), Block())), ["Block"] * 4),
        (Model(one=Block(), two=Block()), ["Block"] * 2),
        (nn.Sequential(Norm(), Norm()), ["Norm"] * 2),
        (nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2), ["TransformerEncoderLayer"] * 2),
        (Model(inner=Model(blocks=nn.ModuleList([Block(), Block()]))), ["Block"] * 2),
        (Block(), []),
        (nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)), []),
        (nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(2, 2))), []),
    ],
)
def test_what_is_a_repeated_block(model: nn.Module, blocks: list[str]) -> None:
    assert [type(block).__name__ for block in repeated(model)] == blocks


def reasons(
    *,
    backend: str | None = "inductor",
    mode: str | None = None,
    dynamic: bool | None = None,
    device: str = "",
) -> dict[str, str]:
    """Why variants do not apply to a program, by name."""
    backends = frozenset[object]() if backend is None else frozenset[object]({backend})
    told = frozenset[object]({mode}), frozenset[object]({dynamic})
    scouted = CompileUsage(
        3, (), 0, (), "the program compiles no part of a larger module", backends, *told, device
    )
    return {variant.variant: variant.problem for variant in scouted.variants() if not variant.applies}


def test_what_a_program_does_or_cannot_do_is_not_tried() -> None:
    parts = {
        "whole": "the program compiles no part of a larger module",
        "block": "no compiled module repeats a submodule",
    }
    on_cpu = {"reduce-overhead": "it needs a GPU"}
    assert reasons() == {**parts, **on_cpu}
    assert reasons(device="H100") == parts
    assert reasons(device="H100", mode="reduce-overhead") == {
        **parts,
        "reduce-overhead": "the program already does so",
    }
    assert reasons(dynamic=True) == {**parts, **on_cpu, "dynamic": "the program already does so"}
    other = "the program compiles with another backend than TorchInductor"
    assert reasons(backend="eager") == {**parts, **on_cpu, "max-autotune-no-cudagraphs": other}
    by_name = "the program does not call `torch.compile` by that name"
    assert reasons(backend=None)["dynamic"] == by_name
