"""Random numbers of Python and NumPy that a function draws before its compiled part."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
from fixing import fixes
from fullgraph_server.fixes.editing import edited
from fullgraph_server.fixes.rules.syntax import code_of
from fullgraph_server.fixes.splitting.drawing import with_draws_first
from fullgraph_server.workspace.source import SourceFile

HEAD = (
    "import math\nimport random\n\nimport numpy as np\nimport torch\n\nrng = np.random.default_rng(0)\n\n\n"
)


def drawn(body: str) -> str | None:
    """Return the body of a function whose draws moved; ``None`` if none did."""
    head = f"{HEAD}def step(self, x, layers, p, training):\n"
    code = code_of(SourceFile("model.py", head + indent(dedent(body).lstrip("\n"), "    ")))
    assert code is not None
    found = with_draws_first(code, next(code.functions()))
    return None if found is None else dedent(found.code.source.text.removeprefix(head))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            """
            for layer in layers:
                # LayerDrop
                drop = np.random.random()
                if training and drop < p:
                    continue
                x = layer(x)
            """,
            """
            skips = [np.random.random() < p for _ in layers]
            for layer, skip in zip(layers, skips):
                # LayerDrop
                if training and skip:
                    continue
                x = layer(x)
            """,
        ),
        (
            """
            for t in range(8):
                x = self.cell(x)
                if t > 2 and rng.random() < p:
                    x = x + 1
            """,
            """
            coins = [t > 2 and rng.random() < p for t in range(8)]
            for coin in coins:
                x = self.cell(x)
                if coin:
                    x = x + 1
            """,
        ),
        (
            """
            for t in range(8):
                if random.random() < p:
                    x = x + t
            """,
            """
            coins = [random.random() < p for _ in range(8)]
            for t, coin in enumerate(coins):
                if coin:
                    x = x + t
            """,
        ),
        (
            """
            for i, layer in enumerate(layers):
                scale = math.sqrt(random.uniform(0, i))
                x = layer(x) * scale + scale
            """,
            """
            scales = [math.sqrt(random.uniform(0, i)) for i, layer in enumerate(layers)]
            for (i, layer), scale in zip(enumerate(layers), scales):
                x = layer(x) * scale + scale
            """,
        ),
        (
            """
            x = x * 2
            if training and random.random() < p:
                x = x.flip(-1)
            """,
            """
            x = x * 2
            coin = training and random.random() < p
            if coin:
                x = x.flip(-1)
            """,
        ),
        (
            """
            for layer in layers:
                p = p / 2
                if random.random() < p:
                    x = layer(x)
            """,
            """
            numbers = [random.random() for _ in layers]
            for layer, number in zip(layers, numbers):
                p = p / 2
                if number < p:
                    x = layer(x)
            """,
        ),
        (
            """
            for layer in layers:
                scale = random.uniform(
                    0, p
                )
                x = layer(x) * scale
            """,
            """
            scales = [random.uniform(0, p) for _ in layers]
            for layer, scale in zip(layers, scales):
                x = layer(x) * scale
            """,
        ),
    ],
    ids=[
        "skipped layer",
        "condition with the turn",
        "number of the turn",
        "value",
        "if",
        "changing bound",
        "several lines",
    ],
)
def test_draws_move_before_the_statement_that_uses_them(body: str, expected: str) -> None:
    assert drawn(body) == dedent(expected).lstrip("\n")


@pytest.mark.parametrize(
    "body",
    [
        "for layer in layers:\n    if x.sum() > 0 and random.random() < p:\n        x = layer(x)\n",
        "for layer in layers:\n    self.p = self.p / 2\n    x = layer(x) * random.uniform(0, self.p)\n",
        "for layer in layers:\n    self.p /= 2\n    if random.gauss(0, self.p) < 1:\n        x = layer(x)\n",
        "for layer in layers:\n    if random.random() < p:\n        break\n    x = layer(x)\n",
        "for layer in layers:\n    if not layer:\n        continue\n    d = random.random()\n    x = x * d\n",
        "for layer in layers:\n    a = random.random()\n    b = random.random()\n    x = layer(x) * a * b\n",
        "while training:\n    d = random.random()\n    x = x * d\n",
        "for layer in layers:\n    for head in layer:\n        d = random.random()\n        x = x * d\n",
        "d = random.random()\nx = x * d\n",
        "for layer in layers:\n    if torch.rand(()) < p:\n        x = layer(x)\n",
    ],
    ids=[
        "only for some data", "no test", "changing bound", "early end", "skipped turn", "two draws", "while",
        "inner loop", "whole statement", "number of torch",
    ],
)  # fmt: skip
def test_other_draws_stay(body: str) -> None:
    assert drawn(body) is None


def test_a_loop_stays_compiled_though_it_draws() -> None:
    text = HEAD + dedent(
        """
        @torch.compile
        def step(x, layers, p):
            x = x * 2
            for layer in layers:
                if random.random() < p:
                    continue
                x = layer(x)
            return x.relu()
        """
    ).lstrip("\n")
    source, found = fixes(text, "random.random()", "GB0170")
    fix = next(item for item in found if item.rule == "split-function")
    assert edited(source, fix.edits) == HEAD + dedent(
        """
        @torch.compile
        def compiled_step(x, layers, skips):
            x = x * 2
            for layer, skip in zip(layers, skips):
                if skip:
                    continue
                x = layer(x)
            return x.relu()


        def step(x, layers, p):
            skips = [random.random() < p for _ in layers]
            return compiled_step(x, layers, skips)
        """
    ).lstrip("\n")
    assert (
        "For each new combination of the numbers that it gets, torch compiles the part again." in fix.change
    )
