"""Write a recorded call as a Python file that makes it again."""

from __future__ import annotations

import base64
import re
import textwrap
import zlib

from ..facts import FaultLocated
from ..minify.checking import pattern
from .record import RecordedCall

_WIDTH = 100


def write(call: RecordedCall, fault: FaultLocated, environment: str) -> str:
    """The whole file, which sees for itself whether the call still fails in this way."""
    failure = fault.failure
    line = failure.message.splitlines()[0] if failure.message else ""
    what = f"{failure.error}: {line}"
    places = [f"    {frame.filename}:{frame.row} in {frame.function}" for frame in fault.stack[-1:]]
    header = [
        f"Dynamo fails: {what}",
        "One call of the program, recorded:",
        "",
        *places,
        "",
        "Run it to see whether it still fails (with --raise, by its traceback): exit code 0 if so, else 1.",
        *environment.splitlines(),
    ]
    imports = [text for text in call.preamble if text.startswith(("import ", "from "))]
    definitions = [text for text in call.preamble if text not in imports]
    own = [f"import {name}" for name in ("base64", "pickle", "re", "sys", "traceback", "zlib")]
    own += [] if "import torch" in imports else ["", "import torch"]
    comment = "".join(f"# {line}".rstrip() + "\n" for line in header)
    parts = [
        "\n".join([*own, *imports]),
        *definitions,
        _arguments(call),
        _call(call),
        _main(failure.error, line),
    ]
    return comment + "\n" + "\n\n\n".join(parts) + '\n\n\nif __name__ == "__main__":\n    sys.exit(main())\n'


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


def _main(error: str, line: str) -> str:
    return f"""\
EXPECTED = {re.escape(error)!r}, {pattern(line)!r}


def main():
    try:
        replay()
    except Exception:
        if "--raise" in sys.argv:
            raise
        text = traceback.format_exc()
        if all(re.search(part, text) for part in EXPECTED):
            print("Still fails:", {error!r})
            return 0
        print(text + "Fails differently.")
        return 1
    print("No longer fails.")
    return 1"""
