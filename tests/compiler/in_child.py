"""Call a function in a forked child of this process: what compiles must not leave anything behind."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from typing import Any

import torch._dynamo  # noqa: F401 - one copy serves all children


def in_child(function: Callable[[], Any]) -> Any:
    """What the function returns, by way of JSON. Raises ``AssertionError`` with the child's traceback."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = {"value": function()}
        except BaseException:
            answer = {"error": traceback.format_exc()}
        with open(writer, "w", encoding="utf-8") as stream:
            json.dump(answer, stream)
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    answer = json.loads(text or '{"error": "the child died"}')
    if "error" in answer:
        raise AssertionError(answer["error"])
    return answer["value"]
