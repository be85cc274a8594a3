"""Facts and their JSON form."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import pytest
from fullgraph_compiler import facts
from fullgraph_compiler.facts import Fact, FrameInputs, GraphBreak, InputTensor, Value, as_object, from_json
from fullgraph_compiler.facts.registry import CLASSES

MODULES = [
    importlib.import_module(f"{facts.__name__}.{module.name}")
    for module in pkgutil.iter_modules(facts.__path__)
]
WRITTEN = {
    name: item
    for module in MODULES
    for name, item in vars(module).items()
    if inspect.isclass(item) and dataclasses.is_dataclass(item)
}


def test_every_dataclass_of_the_vocabulary_has_a_json_form() -> None:
    assert WRITTEN == CLASSES
    for cls in WRITTEN.values():
        assert issubclass(cls, Value)
        assert "__dict__" not in dir(cls)
        assert getattr(facts, cls.__name__) is cls


def test_values_come_back_equal() -> None:
    fact = FrameInputs("0/0", (InputTensor("L['x']", "f32", (4,), (1,), "cpu", True, False),))
    told = facts.to_json(fact)
    assert told["type"] == "FrameInputs"
    assert from_json(told) == fact
    assert isinstance(fact, Fact)
    assert not isinstance(fact.tensors[0], Fact)


@pytest.mark.parametrize("name", ["Fact", "Value", "object", "Unknown", ""])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a value of this vocabulary"):
        from_json({"type": name})


def test_other_classes_are_refused() -> None:
    with pytest.raises(TypeError, match="float is not of this vocabulary"):
        as_object(0.5)


def test_a_name_belongs_to_one_class() -> None:
    with pytest.raises(TypeError, match="two classes of this vocabulary are called GraphBreak"):
        dataclasses.make_dataclass(GraphBreak.__name__, ["text"], bases=(Fact,), frozen=True, slots=True)
    assert CLASSES["GraphBreak"] is GraphBreak
