"""A recorded run: save its results; optionally repeat its calls at other sizes."""

from __future__ import annotations

import atexit
import traceback
from pathlib import Path

from ..capture.run import run
from ..facts import Fact, ProgramRaised, RunFinished, RunRequest, TargetProblem
from ..observe.live import Sink
from .again import CallRepeater
from .recording import CallRecorder
from .unseen import UnseenSizes


def run_recorded(request: RunRequest, sink: Sink) -> None:
    """Run a request's program, and write its results to the file ``request.record``.

    If the request has ``added`` sizes, try them after the program.
    """
    sizes = UnseenSizes(request.added, request.patience / 2) if request.added is not None else None
    # At other depths each repeated call would be compiled once more, which takes long.
    again = CallRepeater() if request.depth == "graph" else None
    keep = again.keep if again is not None else bool
    recorder = CallRecorder(other_mode=request.other_mode, compiled=not request.uncompiled, keep=keep)
    over = False

    def install() -> None:
        if sizes is not None:
            sizes.install()
            atexit.register(try_sizes, sizes)  # functions run in reverse order of registration: this one last
        recorder.install()

    def try_sizes(sizes: UnseenSizes) -> None:
        recorder.over = True
        try:
            sizes.try_all()
        except Exception as error:
            traceback.print_exc()
            sink([TargetProblem("error", f"Other sizes could not be tried: {type(error).__name__}: {error}")])

    def make_again() -> None:
        nonlocal over
        over = True
        recorder.finish()
        if again is None:
            return
        try:
            again.make(recorder.make_again, request.patience / 4)
        except Exception:  # calls that were not repeated are not compared
            traceback.print_exc()

    def take(facts: list[Fact]) -> None:
        if over and not any(isinstance(fact, RunFinished) for fact in facts):
            return  # facts of repeated calls
        for fact in facts:
            if isinstance(fact, ProgramRaised):
                recorder.raised.append([fact.error, fact.message])
            elif isinstance(fact, RunFinished):
                recorder.save(Path(request.record))  # for ``fullgraph_server``, this fact ends the run
                sink([*sizes.outcomes] if sizes is not None else [])
        sink(facts)

    run(request, take, install, make_again)
