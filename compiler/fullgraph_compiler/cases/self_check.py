"""Write the part of a repro that checks whether the repro still fails.

This part contains copies of the functions of :mod:`.checking` that it calls.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..compat.graph_compat import operator_mode
from ..facts import Failure
from . import checking
from .case import FailureCase

END = 'if __name__ == "__main__":\n    sys.exit(main())'
"""The last lines of a program that checks itself."""

SECONDS = 30
"""The time in seconds after which a repro of a hang reports that it still hangs."""


def code(case: FailureCase, failure: Failure) -> list[str]:
    """Return the parts of the check: functions, then ``main``, then its call."""
    if failure.kind == "accuracy":
        functions: tuple[Callable[..., Any], ...] = (
            operator_mode,
            checking.run,
            checking.mismatch,
            checking.difference,
            checking.in_double,
            checking.widened,
        )
    else:
        functions = (checking.run,) if _has_gradients(case) else ()
    main = {"error": _error, "accuracy": _accuracy, "crash": _crash, "hang": _hang}[failure.kind]
    run = "run(compiled(Repro(), inputs()), inputs())"
    if checking.run not in functions:
        run = "compiled(Repro(), inputs())(*inputs())"
    return [*map(source, functions), *main(failure, run), END]


def sentence(subject: str, failure: Failure) -> str:
    """Return a sentence about the failure of ``subject``, a stage of the compiler."""
    if failure.kind == "accuracy":
        return f"{subject} computes different numbers than the uncompiled program: {failure.message}."
    if failure.kind == "error":
        return f"{subject} fails in the {failure.phase} pass: {_error_line(failure)}"
    return f"{subject} {'crashes' if failure.kind == 'crash' else 'hangs'}: {failure.message}."


def _error_line(failure: Failure) -> str:
    return f"{failure.error}: {failure.message}"


def _has_gradients(case: FailureCase) -> bool:
    return any(item.spec is not None and item.spec.requires_grad for item in case.inputs)


def source(function: Callable[..., Any]) -> str:
    """Return the source of a function, without comments for type checkers and linters."""
    return re.sub(r" *# (type: ignore|noqa).*", "", inspect.getsource(function))


def _literal(text: str) -> str:
    """Return a Python literal for a regular expression."""
    return repr(text) if '"' in text or text.endswith("\\") else f'r"{text}"'


def _quoted(text: str) -> str:
    """Return a Python literal in double quotes for a string."""
    return json.dumps(text, ensure_ascii=False)


def _error(failure: Failure, run: str) -> Iterator[str]:
    return raises(failure, run, run.replace("compiled(Repro(), inputs())", "Repro()"))


def raises(failure: Failure, run: str, works: str = "") -> Iterator[str]:
    """Yield a ``main`` that checks that ``run`` raises this error, but not ``works``."""
    works = f"    {works}  # This works.\n" if works else ""
    yield f"EXPECTED = {_literal(re.escape(failure.error))}, {_literal(checking.pattern(failure.message))}"
    yield f"""\
def main():
{works}    try:
        {run}
    except Exception:
        if "--raise" in sys.argv:
            raise
        text = traceback.format_exc()
        if all(re.search(part, text) for part in EXPECTED):
            print({_quoted("Still fails: " + _error_line(failure))})
            return 0
        print(text + "Fails differently.")
        return 1
    print("No longer fails.")
    return 1"""


def _accuracy(failure: Failure, run: str) -> Iterator[str]:
    signs = "NaN" in failure.message, failure.message.startswith("gradient")
    yield f"""\
def main():
    plain = run(Repro(), inputs())
    results = {run}
    message = mismatch(Repro(), inputs, results, plain)
    if not message:
        print("No longer fails.")
        return 1
    same = ("NaN" in message, message.startswith("gradient")) == {signs}
    print("Still fails:" if same else "Fails differently:", message)
    return 0 if same else 1"""


def _crash(failure: Failure, run: str) -> Iterator[str]:
    if failure.error.startswith("SIG"):
        expected = f"-signal.{failure.error}"
    else:
        expected = "".join(re.findall(r"\d+$", failure.message)) or "1"
    yield f"""\
def main():
    if "--child" in sys.argv:
        {run}
        return 0
    command = [sys.executable, "-X", "faulthandler", __file__, "--child"]
    code = subprocess.run(command, check=False).returncode
    if code == 0:
        print("No longer fails.")
        return 1
    same = code == {expected}
    print("Still fails:" if same else "Fails differently:", "it ended with code", code)
    return 0 if same else 1"""


def _hang(failure: Failure, run: str) -> Iterator[str]:  # noqa: ARG001
    yield f"SECONDS = {SECONDS}"
    yield f"""\
def main():
    if "--child" in sys.argv:
        {run}
        return 0
    try:
        code = subprocess.run([sys.executable, __file__, "--child"], timeout=SECONDS).returncode
    except subprocess.TimeoutExpired:
        print("Still fails: it takes longer than", SECONDS, "seconds")
        return 0
    print(f"Fails differently: it ended with code {{code}}" if code else "No longer fails.")
    return 1"""
