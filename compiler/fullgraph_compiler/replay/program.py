"""Write repros of recorded calls: Python files that repeat a call."""

from __future__ import annotations

import base64
import textwrap
import zlib
from dataclasses import replace
from pathlib import Path

from ..cases.checking import difference
from ..cases.layout import assemble, comment
from ..cases.self_check import END, raises, source
from ..facts import FaultLocated
from .record import RecordedCall

_WIDTH = 100
_HOLDS = "ARGUMENTS contains everything passed to the call, and the method's object, weights included."


def write(call: RecordedCall, fault: FaultLocated, environment: str) -> str:
    """Return the text of a repro.

    The repro checks whether the call still fails in the same way.
    """
    failure = fault.failure
    line = failure.message.splitlines()[0] if failure.message else ""
    fault_name = "wrong result" if failure.kind == "accuracy" else failure.error
    places = [
        f"    {Path(frame.filename).name}:{frame.row} in {frame.function}" for frame in fault.stack[-1:]
    ]
    header = [
        f"Dynamo fails: {fault_name}: {line}",
        "This file repeats one recorded call of the program.",
        *(["", *places, ""] if places else []),
        "Run it to see whether it still fails (--raise shows the traceback): exit code 0 if so, else 1.",
        *environment.splitlines(),
    ]
    expected = replace(failure, message=line)
    check = _numbers() if failure.kind == "accuracy" else raises(expected, "replay()")
    parts = [_arguments(call), _call(call), "# -- the check --", *check, END]
    return comment(header, _HOLDS) + "\n" + assemble(call.preamble, parts)


def _arguments(call: RecordedCall) -> str:
    data = base64.b64encode(zlib.compress(call.arguments, 9)).decode()
    lines = "\n".join(f'    "{line}"' for line in textwrap.wrap(data, _WIDTH))
    modules = "".join(f'    sys.modules["{name}"] = sys.modules[__name__]\n' for name in call.modules)
    return (
        f"ARGUMENTS = (\n{lines}\n)\n\n\n"
        f"def arguments():\n{modules}    return pickle.loads(zlib.decompress(base64.b64decode(ARGUMENTS)))"
    )


def _call(call: RecordedCall) -> str:
    callee = call.callee
    if not call.is_compiled:
        options = "".join(f", {name}={value!r}" for name, value in call.options.items())
        callee = f'torch.compile({callee}, backend="eager"{options})'
    return f"def replay():\n    owner, args, kwargs = arguments()\n    return {callee}(*args, **kwargs)"


def _numbers() -> list[str]:
    return [
        source(difference),
        """\
def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    items = value if isinstance(value, (tuple, list)) else []
    return [tensor for item in items for tensor in tensors(item)]""",
        """\
def main():
    results = []
    for stance in ("force_eager", "default"):
        torch.manual_seed(0)
        with torch.compiler.set_stance(stance):
            results.append(tensors(replay()))
    for number, (plain, result) in enumerate(zip(*results)):
        if message := difference(f"result {number}", result, plain, None):
            print("Still fails:", message)
            return 0
    print("No longer fails.")
    return 1""",
    ]
