"""The inputs of frames, as logs describe them: recorded ones, and damaged ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from fullgraph_compiler.facts import FrameInputs, InputTensor
from fullgraph_compiler.trace import TraceInterpreter, TraceRecord, read_log
from fullgraph_compiler.trace.inputs import TENSOR_RECORDS, InputReader

TRACES = Path(__file__).parents[1] / "traces"


def interpreted(version: str) -> dict[str, FrameInputs]:
    interpreter = TraceInterpreter()
    log = read_log(TRACES / f"torch-{version}.log.gz")
    facts = [fact for record in log for fact in interpreter.feed(record)]
    return {fact.compile_id: fact for fact in facts if isinstance(fact, FrameInputs)}


def read(records: list[TraceRecord]) -> FrameInputs:
    reader = InputReader()
    for record in records:
        reader.feed(record)
    return next(reader.take("0/0"), FrameInputs("0/0"))


def record(name: str, body: Any, attempt: int = 0) -> TraceRecord:
    return TraceRecord(name, body, "0/0", attempt, "")


def tensor(number: int, **keys: Any) -> TraceRecord:
    body = {
        "id": number,
        "dtype": "torch.float32",
        "device": "device(type='cpu')",
        "size": [2],
        "stride": [1],
    }
    return record("describe_tensor", {**body, "describer_id": 7, **keys})


def source(number: int, name: str, **keys: Any) -> TraceRecord:
    return record("describe_source", {"describer_id": 7, "id": number, "source": name, **keys})


def told(inputs: FrameInputs) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(item.source, item.dtype, item.size) for item in inputs.tensors]


@pytest.mark.parametrize("version", ["2.13", "2.15"])
def test_a_recorded_log_tells_what_each_compilation_was_given(version: str) -> None:
    inputs = interpreted(version)
    assert told(inputs["0/0"]) == [("L['a']", "f32", (10,))]
    assert told(inputs["0/1"]) == [("L['a']", "f32", (12,))]
    assert told(inputs["2/1"]) == [("L['x']", "f32", (12,)), ("L['b']", "f32", (12,))]
    assert inputs["0/1"].numbers == (("L['a'].size()[0]", 12),)
    assert inputs["8/1"].numbers == (("L['self'].scale", 3.0),)


def test_the_recorded_logs_of_both_versions_tell_the_same() -> None:
    assert interpreted("2.13") == interpreted("2.15")


def test_one_parameter_of_a_module_tells_that_it_has_tensors() -> None:
    weight = "L['self']._parameters['weight']"
    parameter = [tensor(0, is_parameter=True, requires_grad=True), source(0, weight)]
    more = [tensor(1), source(1, "L['self']._parameters['bias']"), tensor(2), source(2, "L['x']")]
    inputs = read([*parameter, *more])
    assert told(inputs) == [(weight, "f32", (2,)), ("L['x']", "f32", (2,))]
    assert inputs.tensors[0] == InputTensor(weight, "f32", (2,), (1,), "cpu", True, True)
    assert told(read([*more, *parameter])) == [
        ("L['self']._parameters['bias']", "f32", (2,)),
        ("L['x']", "f32", (2,)),
    ]


def test_a_tensor_of_a_gpu_has_its_device_and_dtype() -> None:
    described = tensor(
        0,
        dtype="torch.bfloat16",
        device="device(type='cuda', index=1)",
        requires_grad=True,
        size=[],
        stride=[],
    )
    inputs = read([described, source(0, "L['x']")])
    assert inputs.tensors == (InputTensor("L['x']", "bf16", (), (), "cuda:1", True, False),)


def test_a_dtype_without_a_short_name_keeps_its_own() -> None:
    inputs = read([tensor(0, dtype="torch.qint8"), source(0, "L['x']")])
    assert [item.dtype for item in inputs.tensors] == ["qint8"]


def test_the_last_attempt_counts() -> None:
    first = [tensor(0), source(0, "L['x']")]
    second = [
        record("describe_tensor", {**tensor(1, size=[3]).body, "describer_id": 8}, attempt=1),
        record("describe_source", {"describer_id": 8, "id": 1, "source": "L['y']"}, attempt=1),
    ]
    inputs = read([*first, *second])
    assert told(inputs) == [("L['y']", "f32", (3,))]


def test_a_source_without_its_tensor_tells_nothing() -> None:
    assert read([tensor(0), source(1, "L['x']"), source(0, "L['y']", describer_id=6)]).tensors == ()


@pytest.mark.parametrize(
    "keys",
    [
        {"size": None},
        {"size": [2.5]},
        {"size": [-1]},
        {"size": ["s0"]},
        {"size": [1] * 65},
        {"dtype": 7},
        {"device": None},
        {"stride": 3},
    ],
    ids=str,
)
def test_a_broken_tensor_is_passed_over(keys: dict[str, Any]) -> None:
    inputs = read([tensor(0, **keys), source(0, "L['x']"), tensor(1), source(1, "L['y']")])
    assert told(inputs) == [("L['y']", "f32", (2,))]


@pytest.mark.parametrize(
    ("value", "number"),
    [("5", 5), ("-5", -5), ("2.5", 2.5), ("inf", None), ("nan", None), ("x", None), ([], None)],
)
def test_the_value_of_a_symbol_is_a_number(value: Any, number: float | None) -> None:
    inputs = read([record("create_symbol", {"symbol": "s0", "val": value, "source": "L['n']"})])
    assert inputs.numbers == (() if number is None else (("L['n']", number),))


def test_no_damage_to_records_is_an_error() -> None:
    chance = random.Random(0)
    names = {*TENSOR_RECORDS, "create_symbol"}
    own = [item for item in read_log(TRACES / "torch-2.15.log.gz") if item.name in names]
    junk = (None, 5, -1, "x", [], [[]], {}, {"stack": 3}, True, 1e400)
    for _ in range(300):
        records = []
        for item in own:
            body = item.body
            if chance.random() < 0.2:
                body = chance.choice(junk)
            elif chance.random() < 0.3:
                body = {key: chance.choice((value, *junk)) for key, value in body.items()}
            records.append(record(item.name, body))
        chance.shuffle(records)
        for described in read(records).tensors:
            assert isinstance(described.source, str)
            assert all(isinstance(size, int) for size in described.size)
