"""Why a compiled call differs: the first point at which two uncompiled calls part."""

from __future__ import annotations

import contextlib
import copy
import dis
import functools
import gc
import os
import pickle
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

if sys.platform != "linux":
    pytest.skip("the stages of a program are forked, on Linux only", allow_module_level=True)

from fullgraph_compiler.diagnose import causes, paths, programs, stages, translated
from fullgraph_compiler.diagnose.divergence import parting
from fullgraph_compiler.diagnose.followed import is_followed
from fullgraph_compiler.diagnose.hooks import HookRegistry
from fullgraph_compiler.diagnose.paths import ENTERED, PathRecorder, place
from fullgraph_compiler.diagnose.programs import CompileLandmarks
from fullgraph_compiler.facts import Cause, Fact, FaultLocated, RunRequest, Script, StageChecked
from fullgraph_compiler.processes.children import run_child

BOX = SimpleNamespace(left=object(), right=object(), steps=[1, 2], apply=torch.sin, scale=2.0)
BOX.current = BOX.left
TWO = torch.ones(2)
MEMORY = torch.ones(6)


def followed(function: Callable[..., Any], *calls: Callable[[Callable[..., Any]], Any]) -> PathRecorder:
    """Return the recorder of calls of a function."""
    recorder = PathRecorder()
    recorder.install()
    compiled = torch.compile(function)
    for call in calls:
        call(compiled)
    return recorder


def cause(function: Callable[..., Any], *calls: Callable[[Callable[..., Any]], Any]) -> Cause | None:
    """Return what parts the second call of a function from the first."""

    def look() -> Cause | None:
        recorder = followed(function, *calls)
        return parting(*recorder.paths, recorder.hooks)

    ended = run_child(look)
    assert ended.answered
    found: Cause | None = ended.answer
    return found


def source_of(found: Cause | None) -> str:
    """Return the code that the first evidence of a cause is about."""
    assert found is not None
    frame = found.evidence[0].stack[-1]
    line = Path(frame.filename).read_text("utf-8").splitlines()[frame.row - 1]
    return line[frame.column : frame.end_column] if frame.column is not None else line.strip()


def identity(x: torch.Tensor) -> torch.Tensor:
    if x.ndim and BOX.current is BOX.left:
        return x + 1
    return x - 1


def environment(x: torch.Tensor) -> torch.Tensor:
    return x * float(os.getenv("FULLGRAPH_TEST_SCALE", "1"))


def steps(x: torch.Tensor) -> torch.Tensor:
    for step in BOX.steps:
        x = x + step
    return x


def helper(x: torch.Tensor) -> torch.Tensor:
    return x.cos()


def applied(x: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = BOX.apply(x)
    return y


def scaled(x: torch.Tensor) -> torch.Tensor:
    scale = BOX.scale
    return x * scale


def written(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a.mul_(2)
    return a + b


def sized(x: torch.Tensor, n: int) -> torch.Tensor:
    rows = x.shape[0] + n
    return x * rows


def plain(x: torch.Tensor) -> torch.Tensor:
    return x + random.randint(1, 1)


def change(**values: Any) -> Callable[[Callable[..., Any]], Any]:
    def call(function: Callable[..., Any]) -> None:
        vars(BOX).update(values)
        function(TWO)

    return call


def with_variable(function: Callable[..., Any]) -> None:
    os.environ["FULLGRAPH_TEST_SCALE"] = "3"
    function(TWO)


def with_autocast(function: Callable[..., Any]) -> None:
    torch.set_autocast_dtype("cpu", torch.float16)
    function(TWO)


@pytest.mark.parametrize(
    ("function", "first", "second", "kind", "values", "text"),
    [
        (
            identity,
            change(),
            change(current=BOX.right),
            "branch",
            ("True", "False"),
            "BOX.current is BOX.left",
        ),
        (steps, change(), change(steps=[1]), "loop", ("went on", "ended"), "for step in BOX.steps:"),
        (applied, change(), change(apply=helper), "called", ("", "helper"), "BOX.apply(x)"),
        (scaled, change(), change(scale=3.0), "value", ("2.0", "3.0"), "scale = BOX.scale"),
        (
            environment,
            change(),
            with_variable,
            "value",
            ("'1'", "'3'"),
            'os.getenv("FULLGRAPH_TEST_SCALE", "1")',
        ),
        (
            written,
            lambda f: f(MEMORY[:3], torch.ones(3)),
            lambda f: f(MEMORY[:3], MEMORY[1:4]),
            "aliasing",
            ("apart", "shared"),
            "a.mul_(2)",
        ),
    ],
)
@pytest.mark.skipif(sys.version_info < (3, 11), reason="instructions have no columns")
def test_two_calls_part_where_something_unguarded_differs(
    function: Callable[..., Any], first: Any, second: Any, kind: str, values: tuple[str, str], text: str
) -> None:
    found = cause(function, first, second)
    assert found is not None
    assert (found.kind, found.compiled, found.call, found.function) == (kind, 1, 2, function.__name__)
    assert (found.evidence[0].before, found.evidence[0].now) == values
    assert source_of(found) == text


def test_a_setting_of_torch_is_a_cause() -> None:
    found = cause(plain, change(), with_autocast)
    assert found is not None
    assert (found.kind, found.evidence[0].name) == ("setting", 'torch.get_autocast_dtype("cpu")')


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (plain, change(), change()),
        (sized, lambda f: f(TWO, 1), lambda f: f(torch.ones(3), 1)),
        (sized, lambda f: f(TWO, 1), lambda f: f(TWO, 2)),
        (
            written,
            lambda f: f(MEMORY[:3], MEMORY[1:4]),
            lambda f: f(MEMORY[:3], MEMORY[2:5]),
        ),
        (lambda a, b: a + b, lambda f: f(TWO, torch.ones(2)), lambda f: f(TWO, TWO)),
    ],
)
def test_calls_that_may_use_one_graph_do_not_part(
    function: Callable[..., Any], first: Any, second: Any
) -> None:
    assert cause(function, first, second) is None


@pytest.mark.parametrize("late", [True, False])
def test_a_hook_is_a_cause_if_it_comes_after_the_call_that_compiles(late: bool) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))

    def hook(*_: Any) -> None:
        net.training = False

    def register(function: Callable[..., Any]) -> None:
        net[0].register_forward_hook(hook)
        function(TWO)

    def look() -> Cause | None:
        recorder = PathRecorder()
        recorder.install()
        calls = (lambda f: f(TWO), register) if late else (register, lambda f: f(TWO))
        compiled = torch.compile(net)
        for call in calls:
            call(compiled)
        return parting(*recorder.paths, recorder.hooks)

    found = run_child(look).answer
    if not late:
        assert found is None
        return
    assert (found.kind, found.evidence[0].name, found.evidence[0].now) == ("hook", "hook", "runs")
    assert "register_forward_hook" in source_of(found)


@pytest.mark.parametrize("removes", [True, False])
def test_a_hook_is_removed_only_if_the_program_removes_it(removes: bool) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))

    def hook(*_: Any) -> None:
        net.training = False

    def look() -> Cause | None:
        recorder = PathRecorder()
        recorder.install()
        handle = net[0].register_forward_hook(hook)
        compiled = torch.compile(net)
        compiled(TWO)
        if removes:
            handle.remove()
        else:
            net[0]._forward_hooks.clear()
        compiled(TWO)
        return parting(*recorder.paths, recorder.hooks)

    found = run_child(look).answer
    assert (found is not None and found.kind == "hook") == removes
    if removes:
        assert (found.evidence[0].before, found.evidence[0].now) == ("ran", "does not run")
        assert source_of(found).startswith("def hook")


@pytest.mark.parametrize("first", [0, 1])
def test_a_module_that_always_had_a_hook_is_no_change_of_hooks(first: int) -> None:
    class Half(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x / 2

    parts = [Half(), Half()]

    def hook(*_: Any) -> None:
        BOX.hooked = True

    def turned(x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = BOX.part(x)
        return y

    def look() -> Cause | None:
        recorder = PathRecorder()
        recorder.install()
        parts[0].register_forward_pre_hook(hook)
        compiled = torch.compile(turned)
        for part in (parts[first], parts[1 - first]):
            BOX.part = part
            compiled(TWO)
        return parting(*recorder.paths, recorder.hooks)

    found = run_child(look).answer
    assert found is None or found.kind != "hook"


def test_a_call_that_compiled_something_has_no_stale_graph() -> None:
    def look() -> list[Cause | None]:
        recorder = followed(identity, change(), change(current=BOX.right))
        row = parting(*recorder.paths, recorder.hooks).evidence[0].stack[-1]  # type: ignore[union-attr]
        breaks = frozenset({(row.filename, row.row)})
        marks = (
            CompileLandmarks(frozenset({1})),
            CompileLandmarks(frozenset({1, 2})),
            CompileLandmarks(frozenset({1}), breaks),
            CompileLandmarks(frozenset({1}), eager=frozenset({(row.filename, "identity")})),
        )
        return [causes._follow(recorder, 2, item).parted for item in marks]

    reused, *others = run_child(look).answer
    assert reused is not None
    assert others == [None, None, None]


def test_a_way_that_is_not_understood_is_no_cause() -> None:
    def guarded(x: torch.Tensor) -> torch.Tensor:
        try:
            return x + BOX.steps[1]
        except IndexError:
            return x

    assert cause(guarded, change(), change(steps=[])) is None


@functools.cache
def kept(size: int) -> int:
    return size


def test_functions_whose_translation_or_cache_differs_are_named() -> None:
    gc.freeze()  # as workers do ahead of a run

    def convert(x: Any, calls: bool = True) -> Any:
        if not calls:
            return x
        return np.fix(x) + np.sin(x) + kept(4) + np.clip(x, -3, 3) + torch.compiler.is_compiling()

    def cached_once(x: torch.Tensor) -> torch.Tensor:
        return x * kept(5)

    assert cause(cached_once, change(), change()) is None, "that its result is kept is no decision"

    def look() -> list[Cause | None]:
        array = np.array([1.5, 2.5])
        recorder = followed(convert, lambda f: f(array), lambda f: f(array), lambda f: f(array, calls=False))
        assert np.fix.__module__ == "numpy", "NumPy is as before"
        first, second, other = recorder.paths
        return [
            causes._translated(first, CompileLandmarks()),
            causes._cached(first, [first, second]),
            causes._cached(other, [first, second]),
            causes._cached(second, [first, second]),
            causes._asked(first),
        ]

    translated, *no_cache, cached, asked = run_child(look).answer
    assert [item.name for item in translated.evidence] == ["fix"]
    assert no_cache == [None, None], "it is not called, or runs"
    assert cached.evidence[0].name == "kept"
    assert source_of(asked).endswith("torch.compiler.is_compiling()")


def test_the_first_call_of_a_function_has_its_instructions() -> None:
    def unasked(x: torch.Tensor) -> torch.Tensor:
        sys._getframe().f_trace_opcodes = False  # as Python 3.13 begins
        x = x + 1
        return x * 2

    def look() -> tuple[list[bool], set[int]]:
        set_trace, asked = sys.settrace, []

        def settrace(function: Any) -> None:
            asked.append(sys._getframe(1).f_trace_opcodes)
            set_trace(function)

        sys.settrace = settrace
        (path,) = followed(unasked, change()).paths
        offsets = (event & ENTERED for event in path.events if event >> 32 == 0)
        return asked, {place(unasked.__code__, offset).row for offset in offsets if offset != ENTERED}

    asked, rows = run_child(look).answer
    assert asked[0], "Python 3.12 looks when the tracer is set"
    first = unasked.__code__.co_firstlineno
    assert {first + 2, first + 3} <= rows


@pytest.mark.parametrize("behind", [0, 2, 4])
def test_a_loop_that_ends_goes_on_at_its_target_or_behind_it(behind: int) -> None:
    code = steps.__code__
    listed = list(dis.get_instructions(code))
    (at,) = (index for index, item in enumerate(listed) if item.opname == "FOR_ITER")
    body, end = listed[at + 1].offset, listed[at].argval + behind

    def path(number: int, *offsets: int) -> paths.CallPath:
        new = paths.CallPath(number, number, "steps", (), (), (), frozenset(), {})
        new.frames.append(paths.PathFrame(code, -1, 0))
        new.events.extend((ENTERED, *offsets))
        return new

    ended, went_on = path(1, listed[at].offset, end), path(2, listed[at].offset, body)
    for before, now, words in (
        (ended, went_on, ("ended", "went on")),
        (went_on, ended, ("went on", "ended")),
    ):
        found = parting(before, now, HookRegistry(lambda: 0))
        assert found is not None
        assert (found.kind, found.evidence[0].before, found.evidence[0].now) == ("loop", *words)


def test_no_cause_is_told_if_one_of_the_earlier_graphs_may_fit() -> None:
    def look() -> list[Cause | None]:
        right, left = change(current=BOX.right), change(current=BOX.left)
        recorder = followed(identity, right, left, left)
        marks = (CompileLandmarks(frozenset({1})), CompileLandmarks(frozenset({1, 2})))
        return [causes._follow(recorder, 3, item).parted for item in marks]

    only, fits = run_child(look).answer
    assert only is not None
    assert fits is None


def rounded(x: Any) -> Any:
    return np.fix(x)


def test_numpy_in_code_that_is_not_compiled_is_no_cause() -> None:
    def through(x: Any) -> Any:
        return rounded(x)

    def look() -> list[Cause | None]:
        (path,) = followed(through, lambda f: f(np.array([1.5, 2.5]))).paths
        file, row = rounded.__code__.co_filename, through.__code__.co_firstlineno + 1
        marks = (
            CompileLandmarks(),
            CompileLandmarks(breaks=frozenset({(file, row)})),
            CompileLandmarks(eager=frozenset({(file, "rounded")})),
            CompileLandmarks(breaks=frozenset({(file, row - 1)}), eager=frozenset({(file, "through")})),
        )
        return [causes._translated(path, item) for item in marks]

    compiled, behind_break, eager, elsewhere = run_child(look).answer
    assert compiled.evidence[0].name == elsewhere.evidence[0].name == "fix"
    assert behind_break is eager is None


def test_functions_of_numpy_keep_their_methods_in_a_followed_call() -> None:
    def accumulate(x: Any) -> Any:
        top = np.maximum.accumulate(x)
        np.add.at(top, [0], 1)
        assert copy.deepcopy(np.add) is np.add is pickle.loads(pickle.dumps(np.add))
        return np.add.reduce(top) + np.fix(x)

    def look() -> tuple[list[float], list[str]]:
        results: list[Any] = []
        array = np.array([1.5, 0.5])
        (path,) = followed(accumulate, lambda f: results.append(f(array))).paths
        return results[0].tolist(), [found.name for _, _, found in path.translated]

    assert run_child(look).answer == ([5.0, 4.0], ["fix"])


def test_a_function_of_numpy_that_raises_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def refuse(x: Any) -> Any:
        calls.append(x)
        raise ValueError("no")

    monkeypatch.setattr(np, "fix", refuse)
    numpy_calls = translated.NumpyWatcher(lambda *_: None)
    numpy_calls.install()
    with pytest.raises(ValueError, match="no"):
        np.fix(np.ones(2))
    numpy_calls.remove()
    assert len(calls) == 1


def test_huge_numbers_and_strings_are_followed_in_short() -> None:
    def huge(x: torch.Tensor, size: int) -> torch.Tensor:
        large = size << 99_999
        text = "a" * 70
        return x * (large % 7) * len(text)

    def look() -> tuple[list[str], bool]:
        calls = [lambda f, size=size: f(TWO, size) for size in (1 << 20_000, 1 << 20_001)]
        first, second = followed(huge, *calls).paths
        return [seen.value for seen in first.values], first.shape == second.shape

    assert run_child(look).answer == (["'" + "a" * 58 + "…"], False)
    assert paths._text("a\n" * 10**6) == repr("a\n" * 99)[:59] + "…"
    assert paths._text("b" * 58) == repr("b" * 58)
    assert paths._text(2**200) is None
    assert paths._text(2**200 - 1) is not None


def test_a_path_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def long(x: torch.Tensor) -> torch.Tensor:
        for _ in range(100):
            x = x + 1
        return x

    monkeypatch.setattr(paths, "_MOST_EVENTS", 50)
    assert run_child(lambda: len(followed(long, change()).paths[0].events)).answer == 50


def test_views_of_one_memory_are_paired_up_to_a_limit() -> None:
    views = [(str(index), MEMORY[:3]) for index in range(1000)]
    assert len({*paths._sharing(views)}) == 50 * 49 // 2


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_call_that_ends_the_program_is_followed_no_longer(error: type[BaseException]) -> None:
    def leaving(x: torch.Tensor) -> torch.Tensor:
        raise error(x.ndim)

    def look() -> list[bool]:
        before = sys.gettrace(), np.fix, torch.compiler.is_compiling
        found = []
        for recorder in (PathRecorder(), programs._UncompiledRecorder()):
            recorder.install()
            with contextlib.suppress(error):
                torch.compile(leaving)(TWO)
            found.append((sys.gettrace(), np.fix, torch.compiler.is_compiling) == before)
        return found

    assert run_child(look).answer == [True, True]


def test_a_comparison_that_died_finds_nothing_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for stage in ("uncompiled", "fused"):
        torch.save({(1, "result"): TWO.half()}, programs.results(tmp_path, stage))
    assert causes.half_difference(tmp_path, "fused") == ""
    programs.results(tmp_path, "fused").unlink()
    assert causes.half_difference(tmp_path, "fused") is None

    ran = programs.ProgramResult(None, 1.0)
    request = RunRequest(1, Script("a.py"), "stages")
    facts: list[Fact] = []
    monkeypatch.setattr(programs, "run_compiled", lambda *_, **__: ran)
    for rounded_difference, count in ((None, 0), ("x by 1", 0), ("", 1)):
        differences = {"fused": "x by 1", "rounded": rounded_difference}
        monkeypatch.setattr(stages, "half_difference", lambda _, stage, found=differences: found[stage])
        facts.clear()
        stages._compare_halves(request, tmp_path, facts.extend, reruns=True)
        assert len(facts) == count


def test_what_is_of_a_library_is_followed_but_not_torch_itself() -> None:
    assert is_followed("/x/train.py")
    assert is_followed("/x/lib/python3.12/site-packages/transformers/a.py")
    assert not is_followed("/x/lib/python3.12/site-packages/torch/nn/a.py")
    assert not is_followed(torch.__file__)
    assert not is_followed(os.__file__)
    assert not is_followed(causes.__file__)


STALE = """
import torch
class Box: pass
box = Box()
box.left = object()
box.now = box.left
@torch.compile(backend="eager")
def route(x):
    return x + 1 if box.now is box.left else x - 1
@torch.compile(backend="eager")
def same(x):
    return x * 2
x = torch.ones(2)
route(x), same(x)
box.now = object()
same(x), route(x)
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_stages_name_the_line_and_the_cause(tmp_path: Path) -> None:
    path = tmp_path / "stale.py"
    path.write_text(STALE)
    facts: list[Fact] = []

    def work() -> list[Fact]:
        stages.run_stages(RunRequest(1, Script(str(path)), "stages"), facts.extend, lambda: None)
        return facts

    found = run_child(work, 280).answer
    (fault,) = (fact for fact in found if isinstance(fact, FaultLocated))
    assert fault.cause is not None
    assert (fault.cause.kind, fault.cause.call, fault.stack[-1].row) == ("branch", 2, 9)
    assert not any(isinstance(fact, StageChecked) and fact.otherwise for fact in found)
