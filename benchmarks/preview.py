"""Previewed kernels, compared with those of the GPU: ``python preview.py FOLDER``.

It runs on a machine that has this GPU. Each program of ``tests/cases/preview`` is previewed without a visible
GPU, run on the GPU, and run there once more with the binaries of its preview. ``FOLDER`` stores the
measurements, and another call measures the rest. The output is a table for ``docs/preview.md``.
``preview_texts.py`` defines which kernels are the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.measure import HERE, SMALL, python
from support.preview_texts import Common, in_common

sys.path.insert(0, str(HERE.parent / "tests"))
from preview_cases import Case, cases

_DEVICE = "h200"
_STEPS = ("preview", "device", "loaded")
_PATIENCE = 240
"""Seconds for one step of one program."""
_ROUNDING = 1e-2
"""Two results are the same up to rounding if no number differs by more, as a part of the largest one."""


@dataclass(frozen=True)
class Measured:
    """What was measured of one program. ``ran`` is how it ran with previewed binaries."""

    case: Case
    common: Common
    ran: dict[str, Any]
    problems: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether the preview has exactly the device's kernels and library calls."""
        return not self.common.differences and not self.problems

    @property
    def computes_the_same(self) -> bool:
        """Whether the previewed binaries compute what the device's own did."""
        return bool(self.ran.get("same_bits")) or self.ran.get("difference", 1.0) <= _ROUNDING


def measure(case: Case, folder: Path, steps: Sequence[str] = _STEPS) -> None:
    """Take those steps that were not taken, each in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for step in steps:
        if (folder / f"{step}.json").exists():
            continue
        env = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        if step == "preview":
            env["CUDA_VISIBLE_DEVICES"] = ""
        script = HERE / "support" / "preview_case.py"
        command = [python(), str(script), step, str(case.path), _DEVICE, str(folder)]
        said = _failed(command, env)
        if said:
            (folder / f"{step}.log").write_text(said)
            problem = said.strip().rpartition("\n")[2]
            (folder / f"{step}.json").write_text(json.dumps({"graphs": [], "problems": [problem]}))


def _failed(command: Sequence[str], env: dict[str, str]) -> str:
    """What a command wrote if it failed; else empty."""
    options: dict[str, Any] = {"env": env, "capture_output": True, "text": True, "timeout": _PATIENCE}
    try:
        ended = subprocess.run(command, check=False, **options)
    except subprocess.TimeoutExpired:
        return f"took longer than {_PATIENCE} s"
    return (ended.stderr or f"ended with {ended.returncode}") if ended.returncode else ""


def read(case: Case, folder: Path) -> Measured:
    """What was measured of a program."""
    ours, theirs, ran = (json.loads((folder / f"{step}.json").read_text()) for step in _STEPS)
    told = zip(_STEPS, (ours, theirs, ran), strict=True)
    problems = tuple(f"{step}: {problem}" for step, answer in told for problem in answer["problems"])
    return Measured(case, in_common(ours["graphs"], theirs["graphs"]), ran, problems)


def table(measured: Sequence[Measured]) -> Iterator[str]:
    """The ratios, as Markdown."""

    def part(of: Callable[[Measured], int], whole: Callable[[Measured], int]) -> str:
        some, every = sum(map(of, measured)), sum(map(whole, measured))
        return f"{some} of {every} ({some / max(every, 1):.1%})"

    counted = {
        "kernels with the same text": part(lambda one: one.common.same, lambda one: one.common.kernels),
        "of those, where autotuning chose what was previewed: kernels with the same PTX": part(
            lambda one: one.common.same_ptx, lambda one: one.common.built
        ),
        "library calls that are the same": part(
            lambda one: one.common.same_calls, lambda one: one.common.calls
        ),
        "programs with all kernels and calls the same": part(lambda one: one.is_same, lambda _: 1),
        "of those with a backward graph": part(
            lambda one: one.is_same and one.case.backward, lambda one: one.case.backward
        ),
        "kernels that ran as the preview had assembled them": part(
            lambda one: one.ran.get("previewed", 0), lambda one: one.ran.get("kernels", 0)
        ),
        "programs that computed the same with them": part(lambda one: one.computes_the_same, lambda _: 1),
        "of those, bit for bit": part(
            lambda one: bool(one.ran.get("same_bits")), lambda one: one.computes_the_same
        ),
    }
    yield "| | |"
    yield "|---|---|"
    yield from (f"| {what} | {ratio} |" for what, ratio in counted.items())


def differences(measured: Sequence[Measured]) -> Iterator[str]:
    """Each program that is not the same, and how."""
    for one in measured:
        ran = one.ran
        apart = "" if one.computes_the_same else f"results differ by {ran.get('difference', 'all')}"
        if not one.is_same or apart:
            yield f"\n**{one.case.name}**{f' ({one.case.otherwise})' if one.case.otherwise else ''}"
            yield from filter(None, (*one.problems, apart))
            yield from (f"```diff\n{difference}\n```" for difference in one.common.differences)
        elif not ran["same_bits"]:
            yield f"\n**{one.case.name}**: the same kernels, results differ by {ran['difference']:.1e}"
            yield f"(uncompiled: {ran['to_eager']:.1e}; the device's own: {ran['own_to_eager']:.1e})"


def preview_one(folder: Path) -> None:
    """Preview the first program without a GPU, and print how many kernels it has."""
    case, *_ = cases()
    measure(case, folder / case.name, ("preview",))
    answer = json.loads((folder / case.name / "preview.json").read_text())
    if answer["problems"]:
        sys.exit("\n".join(answer["problems"]))
    print(f"{case.name}: {sum(len(graph['kernels']) for graph in answer['graphs'])} kernels previewed")


def main(folder: Path) -> None:
    """Measure as many programs at a time as there are cores; print the ratios and differences."""
    chosen = cases()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(lambda case: measure(case, folder / case.name), chosen))
    measured = [read(case, folder / case.name) for case in chosen]
    backward = sum(case.backward for case in chosen)
    print(f"{len(chosen)} programs, {backward} with a backward graph, on {_DEVICE}\n")
    print("\n".join((*table(measured), *differences(measured))))


if __name__ == "__main__":
    if SMALL:
        with TemporaryDirectory() as name:
            preview_one(Path(name))
    else:
        main(Path(sys.argv[1]).resolve())
