"""Record a log, and make a large one from it by repeating its records.

Each repetition has new compile ids.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from .measure import HERE, SMALL, python

PROGRAM = HERE / "programs" / "traced.py"
_FRAME = re.compile(rb'"frame_id": (\d+)')
_STARTED = re.compile(rb'\{"dynamo_start": [^\n]*"frame_id": (\d+), "frame_compile_id": (\d+),')
_REASON = re.compile(rb"^(\t(?:\[?\"?)?)(\d+)/(\d+): ", re.MULTILINE)


def recorded(folder: Path) -> bytes:
    """Return the log of the program, as torch writes it."""
    env = {**os.environ, "TORCH_TRACE": str(folder / "trace"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "c")}
    backend = "aot_eager" if SMALL else "inductor"
    subprocess.run([python(), str(PROGRAM), backend], env=env, check=True, capture_output=True)
    (log,) = (folder / "trace").iterdir()
    return log.read_bytes()


def grow(log: bytes, size: int, output: Path) -> int:
    """Write at least ``size`` bytes of copies of a log; return the number of copies."""
    frames = max((int(number) for number in _FRAME.findall(log)), default=0) + 1
    copies = written = 0
    with output.open("wb") as stream:
        while written < size:
            written += stream.write(_shifted(log, copies * frames))
            copies += 1
    return copies


def add_compilation(log: bytes) -> bytes:
    """Return a log in which the last compilation of a frame occurs twice.

    The second has the next compile id of this frame.
    """
    records = re.split(rb"^(?=V\d{4} )", log, flags=re.MULTILINE)
    started = [found for found in map(_STARTED.search, records) if found]
    frame, last = started[-1].groups()
    own = [item for item in records if b'"frame_id": %b, "frame_compile_id": %b,' % (frame, last) in item]
    again = b'"frame_compile_id": %d,' % (int(last) + 1)
    return log + b"".join(item.replace(b'"frame_compile_id": %b,' % last, again, 1) for item in own)


def _shifted(log: bytes, by: int) -> bytes:
    """Return the log with ``by`` added to all frame ids, of records and in reasons."""
    log = _FRAME.sub(lambda found: b'"frame_id": %d' % (int(found[1]) + by), log)
    return _REASON.sub(lambda found: b"%b%d/%b: " % (found[1], int(found[2]) + by, found[3]), log)
