"""The oracle: what a case's repro does in a child of its own, and what is remembered of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("questions are forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.cases.case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    FailureCase,
    NormalValues,
    ResultRef,
    TensorSpec,
)
from fullgraph_compiler.cases.oracle import AnswerCache, FailureOracle, OracleAnswer
from fullgraph_compiler.facts import Failure

_SPEC = TensorSpec((2, 3), (3, 1), "float32", "cpu")
_OPERATIONS = (
    CaseOperation("sin", "call_function", "torch.sin", (ResultRef("x"),), spec=_SPEC),
    CaseOperation("relu", "call_function", "torch.relu", (ResultRef("sin"),), spec=_SPEC),
)


def _case(backend: str, *names: str, preamble: tuple[str, ...] = ()) -> FailureCase:
    operations = tuple(item for item in _OPERATIONS if item.name in (names or ("sin", "relu")))
    inputs = (CaseInput("x", _SPEC, NormalValues()),)
    if operations[0].name == "relu":
        operations = (replace(operations[0], args=(ResultRef("x"),)),)
    graph = CaseGraph(("x",), operations, (ResultRef(operations[-1].name),))
    return FailureCase("dynamo", backend, graph, inputs, preamble, backend_is_code=bool(preamble))


def _backend(body: str) -> FailureCase:
    return _case("backend", preamble=("import os", f"def backend(graph, inputs):\n    {body}"))


def _failure(case: FailureCase, seconds: float = 60.0) -> Failure | None:
    return FailureOracle(seconds, AnswerCache()).ask([case])[0].failure


FAULTY = _case("relu_compile_error_TESTING_ONLY")


def test_what_compiles_does_not_fail() -> None:
    assert _failure(_case("aot_eager")) is None


def test_an_error_is_told_with_its_traceback() -> None:
    failure = _failure(FAULTY)
    assert failure is not None
    assert (failure.kind, failure.error, failure.phase) == ("error", "ReluCompileError", "forward")
    assert "Traceback" in failure.text


@pytest.mark.parametrize(("body", "error"), [("os.abort()", "SIGABRT"), ("os._exit(3)", "Exit")])
def test_a_crash_is_told(body: str, error: str) -> None:
    failure = _failure(_backend(body))
    assert failure is not None
    assert (failure.kind, failure.error) == ("crash", error)


def test_what_takes_too_long_hangs() -> None:
    failure = _failure(_backend("while True: pass"), seconds=3.0)
    assert failure is not None
    assert failure.kind == "hang"


def test_a_text_that_does_not_run_is_no_failure_of_the_compiler() -> None:
    failure = _failure(_case("backend", preamble=("backend = missing",)))
    assert failure is not None
    assert failure.error == "Uncompiled"


def test_what_dynamo_captures_in_pieces_is_no_pass() -> None:
    broken = CaseOperation("broken", "call_function", "torch._dynamo.graph_break", ())
    case = _case("eager")
    graph = replace(case.graph, operations=(case.graph.operations[0], broken, case.graph.operations[1]))
    failure = _failure(replace(case, graph=graph))
    assert failure is not None
    assert (failure.kind, failure.error) == ("error", "InPieces")
    assert "graph_break" in failure.message
    failure = _failure(replace(case, preamble=("torch.compile = lambda module, **_: module",)))
    assert failure is not None
    assert failure.message == "it captures no graph"


def test_answers_come_in_the_order_of_the_questions() -> None:
    answers = FailureOracle(60.0, AnswerCache()).ask(
        [FAULTY, _case("eager"), _case("relu_compile_error_TESTING_ONLY", "sin")]
    )
    assert [answer.failure is None for answer in answers] == [False, True, True]


def test_the_earliest_that_fails_is_taken() -> None:
    oracle = FailureOracle(60.0, AnswerCache(), at_once=3)
    failure = oracle.ask([FAULTY])[0].failure
    assert failure is not None
    passing, smaller = (_case(FAULTY.backend, name) for name in ("sin", "relu"))
    assert oracle.first_failing([passing, smaller, FAULTY], failure) is smaller
    assert oracle.first_failing([passing], failure) is None


def test_no_more_is_asked_than_fits_at_once() -> None:
    asked = []

    def cases() -> Iterator[FailureCase]:
        for number in range(100):
            asked.append(number)
            yield _case(FAULTY.backend, "relu") if number == 1 else replace(FAULTY, dynamic=bool(number % 2))

    oracle = FailureOracle(60.0, AnswerCache(), at_once=2)
    failure = FailureOracle(60.0, AnswerCache()).ask([FAULTY])[0].failure
    assert failure is not None
    assert oracle.first_failing(cases(), failure) is not None
    assert len(asked) <= 4


@pytest.mark.parametrize(
    "damage",
    [
        b'{"key": "cut',
        b"\xff\xfe\x00 no text",
        b"[" * 200_000,
        b'{"key": ["list"], "failure": null, "seconds": 1}',
        b'{"key": "x", "failure": {"Failure": 3}, "seconds": 1}',
        b'{"key": "x", "failure": 7, "seconds": "soon"}',
        b'{"key": "x", "failure": null, "seconds": ' + b"9" * 5_000 + b"}",
    ],
    ids=lambda damage: damage[:24].decode("utf-8", "replace"),
)
def test_damaged_answers_keep_no_minification_from_beginning(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(damage)
    AnswerCache(path).put("known", OracleAnswer(None, 1.0))
    assert AnswerCache(path).get("known") == OracleAnswer(None, 1.0)


def test_answers_are_kept_without_a_file_that_can_be_written(tmp_path: Path) -> None:
    kept = AnswerCache(tmp_path)
    kept.put("known", OracleAnswer(None, 1.0))
    assert kept.get("known") == OracleAnswer(None, 1.0)


def test_answers_are_kept_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "answers.jsonl"
    first = FailureOracle(60.0, AnswerCache(path))
    told = first.ask([FAULTY, _case("eager")])
    assert (first.queries, first.cached) == (2, 0)
    with path.open("a") as file:
        file.write('{"key": "cut')
    second = FailureOracle(60.0, AnswerCache(path))
    assert [answer.failure for answer in second.ask([FAULTY, _case("eager")])] == [
        answer.failure for answer in told
    ]
    assert (second.queries, second.cached) == (0, 2)
