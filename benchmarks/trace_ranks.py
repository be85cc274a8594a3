"""Growth of a job's report with its ranks: time, and memory of each process.

The logs are that of a real program, repeated up to 5 MB, with the number of the rank in each record. They are
read by processes of this machine, then by a Dask cluster of as many workers, and by tlparse.
``trace_ranks.py [SIZE...]`` reads jobs of these numbers of ranks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.measure import SMALL, python
from support.trace_logs import PROGRAM, add_compilation, grow, recorded

SIZES = (3,) if SMALL else (16, 64, 256, 1024)
RANK_MB, ODD = (1, 1) if SMALL else (5, 7)
TLPARSE_SECONDS = 900
"""tlparse is ended after that time, and larger jobs are not tried with it."""
LEAST_RATIO, MOST_WORKER_MB = 5.0, 200
_FRAME = re.compile(rb', "frame_id": ')


@dataclass(frozen=True)
class Reading:
    """A command's wall time, processor time, output, and peaks of memory in MB.

    ``parent`` is the peak of the command's process, ``worker`` that of its largest worker. ``cpu`` does not
    include the workers of a cluster.
    """

    seconds: float
    cpu: float
    output: str
    parent: int
    worker: int


def write_ranks(log: bytes, folder: Path, ranks: int) -> None:
    """Write the log of each rank; one has compiled a function once more."""
    grow(log, RANK_MB * 1_000_000, folder / "one.log")
    usual = (folder / "one.log").read_bytes()  # to the end: of logs that are cut off, less is compared
    for rank in range(ranks):
        own = add_compilation(usual) if rank == ODD else usual
        _path(folder, rank).write_bytes(_FRAME.sub(b', "rank": %d, "frame_id": ' % rank, own))
    (folder / "one.log").unlink()


def first(folder: Path, ranks: int) -> Path:
    """A folder of the first ranks alone."""
    part = folder.parent / f"ranks{ranks}"
    part.mkdir()
    for rank in range(ranks):
        os.link(_path(folder, rank), _path(part, rank))
    return part


def measured(
    command: Sequence[str], cwd: Path, workers_of: int | None = None, limit: float = 3600
) -> Reading:
    """Run a command, and measure its memory and that of its workers.

    The workers are the children of the command, or of the process ``workers_of``.
    """
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=subprocess.STDOUT, text=True)
        parent = worker = pid = 0
        while pid == 0:
            parent = max(parent, _peak(process.pid))
            children = [child for child in _children(workers_of or process.pid) if child != process.pid]
            worker = max([worker, *map(_peak, children)])
            if time.perf_counter() - begun > limit:
                process.kill()
            time.sleep(0.05)
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        seconds = time.perf_counter() - begun
        return Reading(seconds, used.ru_utime + used.ru_stime, output.read(), parent, worker)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A Dask cluster with a worker for each core; yields its address."""
    from distributed import LocalCluster

    local = LocalCluster(
        n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None, local_directory=str(folder)
    )
    with local:
        yield local.scheduler_address


def compare(ranks: Path, number: int, cwd: Path, address: str, with_tlparse: bool) -> bool:
    """Print the cost of one size; return whether tlparse came to its end."""
    ours = [str(Path(python()).with_name("fullgraph")), "trace", str(ranks)]
    local = measured(ours, cwd)
    dask = measured([*ours, "--scheduler", address], cwd, os.getpid())
    for name, item in (("processes", local), ("Dask", dask)):
        print(
            f"{number:5} ranks, {name:9}: {item.seconds:6.1f} s, "
            f"{1000 * item.seconds / number:4.0f} ms a rank, CPU {item.cpu:.1f} s, "
            f"peak of a worker {item.worker} MB (target <= {MOST_WORKER_MB}), of the parent {item.parent} MB"
        )
        if f"on rank {ODD}," not in item.output or f"on {number} ranks" not in item.output.replace(",", ""):
            sys.exit(f"the report is wrong:\n{item.output}")
    if not with_tlparse:
        return False
    command = [str(Path(python()).with_name("tlparse")), str(ranks), "--all-ranks-html", "--overwrite"]
    theirs = measured([*command, "--no-browser", "-o", str(cwd / "tl")], cwd, limit=TLPARSE_SECONDS)
    shutil.rmtree(cwd / "tl", ignore_errors=True)
    ended = theirs.seconds < TLPARSE_SECONDS
    print(
        f"{number:5} ranks, tlparse  : {theirs.seconds:6.1f} s, CPU {theirs.cpu:.1f} s, "
        f"peak {theirs.parent} MB{'' if ended else ', and not at its end'}; "
        f"{theirs.seconds / local.seconds:.1f} times as long (target >= {LEAST_RATIO})"
    )
    return ended


def _path(folder: Path, rank: int) -> Path:
    return folder / f"dedicated_log_torch_trace_rank_{rank}_a.log"


def _children(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _peak(pid: int) -> int:
    """The most memory that a process ever had, in MB; 0 if it has ended."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) // 1024 if found else 0


def main(sizes: Sequence[int]) -> None:
    """Write the logs of the largest size, and read the first of them."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        ranks = place / "ranks"
        ranks.mkdir()
        write_ranks(recorded(place), ranks, max(sizes))
        cwd = place / "project"
        cwd.mkdir()
        shutil.copy(PROGRAM, cwd)
        with_tlparse = True
        with cluster(place / "dask") as address:
            for size in sizes:
                with_tlparse = compare(first(ranks, size), size, cwd, address, with_tlparse)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
