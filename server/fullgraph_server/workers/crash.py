"""The end of a process that died: faulthandler's stack, exit status in words."""

from __future__ import annotations

import re
import signal

from fullgraph_compiler.facts import Stack, StackFrame

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)')
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")

REPORT_IT = "Run it again. If it fails again, please report this with the log, which has the traceback."

_SIGNALS = {
    "SIGABRT": "aborted",
    "SIGBUS": "bus error",
    "SIGFPE": "arithmetic error",
    "SIGILL": "illegal instruction",
    "SIGKILL": "killed: perhaps out of memory",
    "SIGSEGV": "segmentation fault",
    "SIGTERM": "terminated",
}


def crash_stack(log: str, worker_folder: str) -> Stack:
    """Return the stack in faulthandler's log, outermost first, without worker calls.

    Empty if the log contains no stack.
    """
    frames = [
        StackFrame(_unescaped(filename), int(row), _unescaped(function))
        for filename, row, function in _current_thread(log)
    ]
    return tuple(
        frame
        for frame in reversed(frames)
        if not frame.filename.startswith(worker_folder) and not frame.filename.startswith("<frozen ")
    )


def describe_exit(returncode: int) -> str:
    """Return how a process ended: ``segmentation fault (SIGSEGV)``, ``exit code 3``."""
    if returncode >= 0:
        return f"exit code {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"
    return f"{_SIGNALS[name]} ({name})" if name in _SIGNALS else name


def own_failure(error: Exception) -> str:
    """Return a sentence for the user about an internal error of Fullgraph."""
    message = str(error).strip().partition("\n")[0]
    return f"Fullgraph itself failed in this run, with {type(error).__name__}{': ' * bool(message)}{message}"


def early_end(python: str, returncode: int, output: str) -> str:
    """Return why a process ended at its start.

    The reason is usually the last line of the process's output.
    """
    lines = output.strip().splitlines()
    reason = f": {lines[-1].strip()}" if lines else "."
    return f"{python} ended before it could run anything, with {describe_exit(returncode)}{reason}"


def _current_thread(log: str) -> list[tuple[str, str, str]]:
    """Return file, row and function of each frame of the thread that got the signal.

    If the log marks no current thread, return the frames of the main thread, which comes last.
    """
    frames: list[tuple[str, str, str]] = []
    section = ""
    for line in log.splitlines():
        if line.endswith("(most recent call first):"):
            if section == "Current thread":
                break
            section = next((name for name in ("Current thread", "Thread") if line.startswith(f"{name} ")), "")
            frames = [] if section else frames
        elif section and (match := _FRAME.fullmatch(line)):
            frames.append((match[1], match[2], match[3]))
    return frames


def _unescaped(text: str) -> str:
    """Undo faulthandler's escapes of characters.

    It writes all characters other than printable ASCII as hex code points.
    """

    def character(match: re.Match[str]) -> str:
        code = int(match[1] or match[2] or match[3], 16)
        return match[0] if 0x20 <= code < 0x7F or code > 0x10FFFF else chr(code)

    return _ESCAPE.sub(character, text)
