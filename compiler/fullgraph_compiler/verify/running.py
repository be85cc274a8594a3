"""A recorded run: what its calls compute is kept in a file, and they may be made again with other sizes."""

from __future__ import annotations

import atexit
import traceback
from pathlib import Path

from ..capture.run import run
from ..facts import Fact, ProgramRaised, RunFinished, RunRequest, TargetProblem
from ..observe.live import Sink
from .again import CallsAgain
from .recording import Recorder
from .unseen import UnseenSizes


def run_recorded(request: RunRequest, sink: Sink) -> None:
    """Run the program of a request, and write what it computed to its file ``record``.

    Where sizes are to be tried, that follows the program.
    """
    sizes = UnseenSizes(request.added, request.patience / 2) if request.added is not None else None
    # Of the program by itself, each call would be compiled once more, which takes long.
    again = CallsAgain() if request.depth == "graph" else None
    keep = again.keep if again is not None else bool
    recorder = Recorder(other_mode=request.other_mode, compiled=not request.uncompiled, keep=keep)
    over = False

    def install() -> None:
        if sizes is not None:
            sizes.install()
            atexit.register(try_sizes, sizes)  # the first that is registered comes last
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
        except Exception:  # what was not made again is not compared
            traceback.print_exc()

    def take(facts: list[Fact]) -> None:
        if over and not any(isinstance(fact, RunFinished) for fact in facts):
            return  # of calls that are made again
        for fact in facts:
            if isinstance(fact, ProgramRaised):
                recorder.raised.append([fact.error, fact.message])
            elif isinstance(fact, RunFinished):
                recorder.save(Path(request.record))  # this fact is the end of the run for the server
                sink([*sizes.outcomes] if sizes is not None else [])
        sink(facts)

    run(request, take, install, make_again)
