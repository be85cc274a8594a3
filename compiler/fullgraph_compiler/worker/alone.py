"""The program that a debugger starts: run example calls without observation."""

from __future__ import annotations

import json

from ..capture.examples import run_examples
from ..facts import Examples, from_json


def run(text: str) -> None:
    """Run the example calls in ``text``, the JSON of an :class:`Examples`.

    Raises the first error of the calls, or ``SystemExit`` with a message if there is a problem with the file.
    """
    examples = from_json(json.loads(text))
    assert isinstance(examples, Examples)
    outcome = run_examples(examples)
    for problem in outcome.problems:
        raise SystemExit(problem.message)
    for error in outcome.raised:
        raise error
