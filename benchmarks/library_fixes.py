"""Search for fixes in transformers itself, and print what was verified.

The models are those that break there. It needs transformers in addition to torch. Models can be named as
arguments. Each takes about a minute.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from check_toy import FULLGRAPH
from support.library_models import MODELS, Model
from support.measure import SMALL

_SMALLEST = "BertLMHeadModel"
"""The model of ``--small``."""


def search(model: Model, folder: Path) -> dict[str, Any]:
    """Return what the search for fixes of a model told."""
    path = folder / f"{model.name}.py"
    path.write_text(model.program)
    words = [FULLGRAPH, "fix", path.name, "--package", "transformers", "--unsafe", "--format", "json"]
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.stdout else {"status": run.stderr.strip()}


def row(model: Model, told: dict[str, Any]) -> str:
    """Write what was told as a row of a table."""
    if "plan" not in told:
        return f"| {model.name} | {told['status']} | | |"
    rules = Counter(step["rule"] for step in told["plan"] if step["code"].startswith("GB"))
    edits = ", ".join(f"`{rule}`" + (f" ({number})" if number > 1 else "") for rule, number in rules.items())
    left = dict.fromkeys(
        f"{item['code']} {item['message']}" for item in told["left"] if item["code"].startswith("GB")
    )
    before, after = told["before"]["breaks"], told["after"]["breaks"]
    return f"| {model.name} | {before} → {after} | {edits} | {'<br>'.join(left)} |"


def main() -> None:
    """Print the table, a row as soon as it is known, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*")
    named = parser.parse_args().models or ([_SMALLEST] if SMALL else [])
    sums: Counter[str] = Counter()
    print("| model | breaks | verified edits | left |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for model in (item for item in MODELS if not named or item.name in named):
            told = search(model, Path(folder))
            print(row(model, told), flush=True)
            if "plan" in told:
                sums["breaks"] += told["before"]["breaks"]
                sums["left"] += told["after"]["breaks"]
                sums["models"] += 1
                sums["whole"] += not told["after"]["breaks"]
    removed = sums["breaks"] - sums["left"]
    whole = f"{sums['whole']} of {sums['models']} models without one"
    print(f"\n{removed} of {sums['breaks']} breaks removed, {whole}")


if __name__ == "__main__":
    main()
