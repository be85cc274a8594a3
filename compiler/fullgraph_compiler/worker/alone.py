"""Example calls run by themselves, observed by nobody: what a debugger starts."""

from __future__ import annotations

import json

from ..capture.examples import run_examples
from ..facts import Examples, from_json


def run(text: str) -> None:
    """Run the example calls that a JSON text describes; raises what they raise."""
    examples = from_json(json.loads(text))
    assert isinstance(examples, Examples)
    outcome = run_examples(examples)
    for problem in outcome.problems:
        raise SystemExit(problem.message)
    for error in outcome.raised:
        raise error
