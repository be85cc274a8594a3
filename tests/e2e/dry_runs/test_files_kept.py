"""Whatever exists before a dry run is unchanged after it, whoever tried: programs that try, each in its way.

They are in ``cases/files``; what they find there is made by ``files_at_stake``.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from files_at_stake import Places, lost, make_places
from fullgraph_compiler.capture.scripts import run_script
from fullgraph_compiler.facts import Script

PROGRAMS = sorted((Path(__file__).parents[2] / "cases" / "files").glob("*.py"))
_TOGETHER = 10
COMMAND = (sys.executable, "-c", "from fullgraph_server.cli import main; main()", "check", "--dry-run")
_SECONDS = 120

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the programs call what Linux alone has"),
    pytest.mark.timeout(1_200),  # if anything is wrong, each program runs again, alone
]


@pytest.fixture
def short_path() -> Iterator[Path]:
    """An empty folder with a short path: sockets of programs are in folders below it."""
    with tempfile.TemporaryDirectory(prefix="kept-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def batches(programs: Sequence[Path], *marks: pytest.MarkDecorator) -> list[Any]:
    """Programs that run in one command, as values of a parameter."""
    parts = [programs[start : start + _TOGETHER] for start in range(0, len(programs), _TOGETHER)]
    return [pytest.param(part, id=f"{part[0].stem}-{part[-1].stem}", marks=marks) for part in parts]


def every(nth: int) -> pytest.MarkDecorator:
    """Parameters for all programs; all but every nth are slow."""
    others = [program for number, program in enumerate(PROGRAMS) if number % nth]
    return pytest.mark.parametrize(
        "programs", [*batches(PROGRAMS[::nth]), *batches(others, pytest.mark.slow)]
    )


Judge = Callable[[Mapping[str, Any], bool], list[str]]
"""What is wrong with a report; the second argument is whether the program said that it came to its end."""


@every(36)
def test_a_dry_run_keeps_every_file(
    programs: Sequence[Path], short_path: Path, record_property: Callable[[str, object], None]
) -> None:
    failed = failures(programs, short_path, {}, _not_finished, new_files=False)
    _count(record_property, "programs whose dry run keeps every file and comes to its end", programs, failed)
    assert failed == {}


@pytest.mark.parametrize("protection", ["landlock", "python"])
@every(32)
def test_guards_by_path_keep_every_file(
    programs: Sequence[Path],
    protection: str,
    short_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    judge = _not_told if protection == "python" else _without_report
    failed = failures(programs, short_path, {"FULLGRAPH_FILE_PROTECTION": protection}, judge, new_files=True)
    _count(record_property, f"programs whose dry run keeps every file by {protection}", programs, failed)
    assert failed == {}


@pytest.mark.slow
@every(16)
def test_a_plain_run_loses_files_and_comes_to_its_end(programs: Sequence[Path], short_path: Path) -> None:
    torch.compile(torch.nn.Identity())  # imports TorchInductor, once for all children
    failed = {}
    for program in programs:
        places = _places(short_path / program.stem, [program])
        before = places.files()
        output = _run_plainly(places, program)
        if f"end {program.stem}\n" not in output:
            failed[program.stem] = output
        elif not lost(before, places.files()):
            failed[program.stem] = "nothing was changed or removed"
    assert failed == {}


def failures(
    programs: Sequence[Path], folder: Path, variables: Mapping[str, str], judge: Judge, *, new_files: bool
) -> dict[str, list[str]]:
    """What went wrong with each program. They run in one command; if anything is wrong, each in its own."""
    together = _problems(programs, folder / "together", variables, judge, new_files)
    if not together:
        return {}
    alone = {
        program.stem: _problems([program], folder / program.stem, variables, judge, new_files)
        for program in programs
    }
    return {name: problems for name, problems in alone.items() if problems} or {"together": together}


def _problems(
    programs: Sequence[Path], folder: Path, variables: Mapping[str, str], judge: Judge, new_files: bool
) -> list[str]:
    places = _places(folder, programs)
    before = places.files()
    names = [program.name for program in programs]
    done = subprocess.run(
        [*COMMAND, *names, "--format", "json", "--timeout", str(_SECONDS), "--python", sys.executable],
        cwd=places.workspace,
        env={**os.environ, **places.variables, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    after = places.files()
    problems = lost(before, after)
    if not new_files:
        kept = f"{places.workspace}{os.sep}"
        problems += [f"{path} is new" for path in after if path.startswith(kept) and path not in before]
    reports = {Path(report["target"]).name: report for report in _objects(done.stdout)}
    for program in programs:
        if program.name in reports:
            ended = f"end {program.stem}\n" in done.stderr
            problems += [f"{program.stem}: {wrong}" for wrong in judge(reports[program.name], ended)]
        else:
            problems.append(f"{program.stem} has no report: {done.stderr[-2000:]}")
    return problems


def _not_finished(report: Mapping[str, Any], ended: bool) -> list[str]:
    if report["status"] == "finished" and ended:
        return []
    said = "it said" if ended else "it did not say"
    return [f"{report['status']}, and {said} that it ended", *_told(report)]


def _not_told(report: Mapping[str, Any], ended: bool) -> list[str]:
    """Guards may end a run, with one sentence."""
    if not _not_finished(report, ended):
        return []
    told = _told(report)
    if report["status"] in ("exited", "raised") and told and not any("\n" in message for message in told):
        return []
    return _not_finished(report, ended)


def _without_report(report: Mapping[str, Any], _: bool) -> list[str]:
    """The kernel's refusals are errors of the program, whatever it makes of them."""
    return [] if report["status"] in ("finished", "exited", "raised") else [report["status"], *_told(report)]


def _told(report: Mapping[str, Any]) -> list[str]:
    findings = [finding for finding in report["findings"] if finding["kind"] == "target-error"]
    return [finding["message"] for finding in findings if finding["severity"] != "information"]


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON values that follow each other in a text."""
    decoder, found, end = json.JSONDecoder(), [], 0
    while text := text[end:].lstrip():
        value, end = decoder.raw_decode(text)
        found.append(value)
    return found


def _places(folder: Path, programs: Sequence[Path]) -> Places:
    places = make_places(folder)
    for program in programs:
        shutil.copy(program, places.workspace)
    return places


def _run_plainly(places: Places, program: Path) -> str:
    """Run a program as Python would, uncompiled, in a child that has torch imported; returns its output."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if not child:
            try:
                for descriptor in (1, 2):
                    os.dup2(output.fileno(), descriptor)
                sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
                os.chdir(places.workspace)
                os.environ.update(places.variables)
                tempfile.tempdir = None
                torch.compiler.set_stance("force_eager")
                for error in run_script(Script(str(places.workspace / program.name))).raised:
                    traceback.print_exception(error)
                atexit._run_exitfuncs()
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        output.seek(0)
        return output.read()


def _count(
    record_property: Callable[[str, object], None],
    what: str,
    programs: Sequence[Path],
    failed: Mapping[str, object],
) -> None:
    wrong = len(programs) if "together" in failed else len(failed)
    record_property(f"ratio: {what}", (len(programs) - wrong, len(programs)))
