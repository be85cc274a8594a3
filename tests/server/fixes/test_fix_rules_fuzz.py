"""No text is too odd for the rules: they never raise, and what they write parses."""

from __future__ import annotations

import ast
import random
import sysconfig
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.model import RuleContext
from fullgraph_server.fixes.rules import catalogue
from fullgraph_server.report.model import Finding, FrameCompilation, Report
from fullgraph_server.text.remedies import Advice, Remedy
from fullgraph_server.workspace.positions import Span
from fullgraph_server.workspace.ranges import node_span
from fullgraph_server.workspace.source import SourceFile, read_source

ROOT = Path(__file__).parents[3]
CASES = sorted((ROOT / "tests" / "cases").rglob("*.py"))
LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
TORCH = sorted(Path(find_spec("torch").origin).parent.rglob("*.py"))  # type: ignore[union-attr, arg-type]
CODES = [*sorted(catalogue._BREAKS), "", "recompile"]
REMEDIES = (
    Remedy("mark", ("torch._dynamo.mark_dynamic({name}, 0)",)),
    Remedy("mark-unbacked", ("torch._dynamo.decorators.mark_unbacked({name}, (0, 1))",)),
    Remedy("dynamic", ("float({name})",)),
    Remedy("setting", setting="torch.fx.experimental._config.use_duck_shape = False"),
    Remedy("convert", ("{name}.to(torch.float32)",)),
    Remedy("convert", ("{name}.requires_grad_(True)",)),
    Remedy("one-rank", ("{name}.squeeze(0)",)),
    Remedy("number-as-tensor", ("torch.tensor({name}, dtype=torch.float32)",)),
    Remedy("number-as-tensor", ("torch.tensor(3)",)),
    *map(Remedy, ("tensor-learning-rate", "drop-last", "make-once", "neutral-tensor", "same-keys")),
    *map(Remedy, ("stack", "whole-tensor", "same-modes")),
    Remedy("set-earlier", ("torch.set_num_threads(...)",)),
    Remedy("assign-earlier", ("{name}.bias",)),
    Remedy("one-class", ("list(...)",)),
)
MOST = 40_000
"""How many characters a file may have: an edit of a long one takes as long to parse."""
PLACES = 15
"""How many places of a file are tried at most."""


def places(source: SourceFile, chance: random.Random) -> list[ast.expr | ast.stmt]:
    assert source.tree is not None
    kinds = (ast.If, ast.Call, ast.Attribute, ast.With, ast.Subscript, ast.Import, ast.Assign, ast.IfExp)
    found = [node for node in ast.walk(source.tree) if isinstance(node, kinds)]
    wanted = [node.test if isinstance(node, (ast.If, ast.IfExp)) else node for node in found]
    return chance.sample(wanted, min(len(wanted), PLACES))


def reports(source: SourceFile, chance: random.Random) -> Iterator[tuple[Finding, Report]]:
    """Findings at places, with codes in turn, and calls of the function around as those that were seen."""
    assert source.tree is not None
    functions = [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)]
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    for node in places(source, chance):
        span = node_span(source, node)
        around = [item for item in functions if item.lineno <= node.lineno <= (item.end_lineno or 0)]
        made = chance.sample(calls, min(len(calls), 2))
        if around:
            made += [
                item for item in calls if isinstance(item.func, ast.Name) and item.func.id == around[-1].name
            ]
        name = around[-1].name if around else "f"
        row = around[-1].lineno if around else 1
        place = Span(span.filename, row, 1, row, 1)
        parameters = [item.arg for item in around[-1].args.args] if around else []
        compilations = tuple(
            FrameCompilation(f"0/{i}", name, place, 0.0, 0.0, "", node_span(source, call))
            for i, call in enumerate(made)
        )
        report = Report(span.filename, 1, compilations=compilations)
        for code in chance.sample(CODES, 4):
            kind = "recompile" if code == "recompile" else "graph-break"
            given = (parameters or ["x"])[-1]
            told = tuple(
                replace(item, code=tuple(text.replace("{name}", given) for text in item.code))
                for item in REMEDIES
            )
            yield (
                Finding(
                    kind,
                    code,
                    "warning",
                    "",
                    span,
                    advice=(Advice("", told),),
                    compile_ids=frozenset({"0/1"}),
                ),
                report,
            )


@pytest.mark.parametrize(
    ("paths", "share"), [(CASES, 0.1), (LIBRARY, 0.1), (TORCH, 0.01)], ids=["cases", "library", "torch"]
)
def test_every_edit_parses_wherever_a_finding_stands(paths: list[Path], share: float) -> None:
    chance = random.Random(22)
    tried = 0
    for path in chance.sample(paths, int(len(paths) * share)):
        source = read_source(str(path))
        if source is None or source.tree is None or len(source.text) > MOST:
            continue
        for finding, report in reports(source, chance):
            for fix in catalogue.candidates(finding, RuleContext(report, {source.filename: source})):
                text = edited(source, fix.edits)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        ast.parse(text)
                    except SyntaxError as error:
                        pytest.fail(f"{path}:{finding.span.row}: {finding.code}, {fix.rule}: {error}")
                assert text != source.text
                tried += 1
    assert tried > 20


ODD = {
    "tabs": "import torch\n\n\ndef f(x):\n\tif x.sum() > 0:\n\t\tx = x + 1\n\treturn x\n",
    "one line": "import torch\ndef f(x):\n    if x.sum() > 0: x = x + 1\n    return x\n",
    "semicolons": "import torch; y = 1\ndef f(x):\n    a = 1; print(x); b = 2\n    return x\n",
    "one-line function": "def f(x): print(x); return x\n",
    "no end of line": "def f(x):\n    print(x)",
    "continued": "def f(x):\n    if x: \\\n        print(x)\n    return x\n",
    "lambda": "f = lambda x: print(x) if x.sum() > 0 else None\n",
    "walrus": "def f(x):\n    if (y := x.sum()) > 0:\n        x = y\n    return x\n",
    "not ASCII": "def f(ä):\n    print('ß', ä.item()); ä = ä[ä > 0]\n    return ä\n",
    "empty": "",
    "comment": "# nothing\n",
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", ODD)
def test_odd_texts(name: str, ending: str) -> None:
    source = SourceFile("odd.py", ODD[name].replace("\n", ending))
    chance = random.Random(1)
    for _ in range(20):
        for finding, report in reports(source, chance):
            for fix in catalogue.candidates(finding, RuleContext(report, {source.filename: source})):
                text = edited(source, fix.edits)
                ast.parse(text)
                assert ending == "\n" or "\n" not in text.replace("\r\n", "")
