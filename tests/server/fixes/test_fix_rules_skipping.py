"""Layers that are skipped at random, in the forms in which libraries write it."""

from __future__ import annotations

import pytest
from fixing import body, results

DRAWN = "torch.rand([]) < self.layerdrop"


def loop(text: str) -> str:
    """A module with a loop over layers that has these statements."""
    lines = "\n".join(f"            {line}" if line.strip() else "" for line in body(text).splitlines())
    return (
        "import torch\n\n\nclass Model:\n    def forward(self, hidden, mask, synced):\n"
        f"        for layer in self.layers:\n{lines}\n        return hidden\n"
    )


CALL = """
hidden = layer(
    hidden,
    mask,
)
"""
CHOICE = """
hidden_before = hidden
hidden = layer(
    hidden,
    mask,
)
if {condition}:
    hidden = torch.where({flag}, hidden_before, hidden)
"""
INDENTED = CALL.strip().replace("\n", "\n    ")
GUARDED = "if self.training:\n    drawn = torch.rand([])\n    "
COLLECTED = "if synced:\n    self.collected += (mask,)"
FLAGGED = f"skip = False\n{GUARDED}skip = drawn < self.layerdrop\n"


@pytest.mark.parametrize(
    ("before", "at", "after"),
    [
        (
            f"{GUARDED}if drawn < self.layerdrop:  # skip it\n        continue\n\n{CALL.strip()}",
            "drawn < self.layerdrop",
            f"skipped = False\n{GUARDED}skipped = drawn < self.layerdrop  # skip it\n\n"
            + CHOICE.strip().format(condition="skipped is not False", flag="skipped"),
        ),
        (
            (
                f"drop = False\n{GUARDED}if drawn < self.layerdrop:\n        drop = True\n\n"
                f"if not drop:\n    {INDENTED}"
            ),
            "drawn < self.layerdrop",
            f"drop = False\n{GUARDED}drop = drawn < self.layerdrop\n\n"
            + CHOICE.strip().format(condition="drop is not False", flag="drop"),
        ),
        (
            (f"{FLAGGED}if not skip or synced:\n    {INDENTED}\nif skip:\n    continue"),
            "not skip or synced",
            FLAGGED + CHOICE.strip().format(condition="skip is not False and not synced", flag="skip"),
        ),
        (
            (f"{FLAGGED}if skip and not synced:\n    continue\n{CALL.strip()}"),
            "skip and not synced",
            FLAGGED + CHOICE.strip().format(condition="skip is not False and not synced", flag="skip"),
        ),
        (
            f"{GUARDED}if drawn < self.layerdrop:\n        continue\n\n{CALL.strip()}\n{COLLECTED}",
            "drawn < self.layerdrop",
            f"skipped = False\n{GUARDED}skipped = drawn < self.layerdrop\n"
            "    if synced and skipped:\n        continue\n\n"
            + CHOICE.strip()
            .replace("if {condition}", f"{COLLECTED}\nif {{condition}}")
            .format(condition="skipped is not False", flag="skipped"),
        ),
        (
            f"{FLAGGED}if skip and mask:\n    continue\n{CALL.strip()}\n{COLLECTED}",
            "skip and mask",
            f"{FLAGGED}if synced and (skip and mask):\n    continue\n"
            + CHOICE.strip()
            .replace("if {condition}", f"{COLLECTED}\nif {{condition}}")
            .format(condition="skip is not False and mask", flag="skip"),
        ),
        (
            (
                f"drop = False\n{GUARDED}if drawn < self.layerdrop:\n        drop = True\n\n"
                f"if drop:\n    kept = None\nelse:\n    {INDENTED.replace('hidden', 'hidden, kept', 1)}\n"
                f"{COLLECTED.replace('mask', 'kept')}"
            ),
            "drawn < self.layerdrop",
            (
                f"drop = False\n{GUARDED}drop = drawn < self.layerdrop\n\n"
                "if synced and drop:\n    kept = None\nelse:\n    hidden_before = hidden\n    "
                f"{INDENTED.replace('hidden', 'hidden, kept', 1)}\n"
                "    if drop is not False:\n        hidden = torch.where(drop, hidden_before, hidden)\n"
                f"{COLLECTED.replace('mask', 'kept')}"
            ),
        ),
    ],
    ids=["continue", "flag", "condition", "jump", "collected", "jump-collected", "otherwise"],
)
def test_a_skipped_layer_runs_and_its_result_is_chosen(before: str, at: str, after: str) -> None:
    assert results(loop(before), at, "GB0170")["skip-by-where"] == loop(after)


@pytest.mark.parametrize(
    "text",
    [
        f"if {DRAWN}:\n    continue\nreturn layer(hidden)",
        f"if {DRAWN}:\n    continue\nself.seen.append(layer)",
        f"if {DRAWN}:\n    hidden = 0\nhidden = layer(hidden)",
        f"skip = {DRAWN}\nif not skip:\n    hidden = layer(hidden)\nelse:\n    hidden = mask",
        f"skip = {DRAWN}\nif not skip:\n    hidden = layer(hidden)\nself.skipped = skip",
    ],
    ids=["returns", "chooses nothing", "skips nothing", "else", "flag is used"],
)
def test_what_is_no_skipped_layer_is_left_alone(text: str) -> None:
    at = "not skip" if "not skip" in text else DRAWN
    assert "skip-by-where" not in results(loop(text), at, "GB0170")


def collecting(skip: str, end: str, added: str = "") -> str:
    """A loss that skips classes; ``added`` are the lines that begin a second list."""
    return (
        "import torch\n\n\ndef loss(p, t):\n    found = []\n"
        f"{added}    for c in range(4):\n{skip}"
        f"        inter = (p[c] * t[c]).sum()\n        found.append(inter)\n{end}"
    )


SKIP = "        if t[c].sum() == 0:  # absent\n            continue\n"
KEEP = "        # absent\n        kept.append(t[c].sum() != 0)\n"
TOTAL = "torch.where(kept, torch.stack(found), 0).sum()"


@pytest.mark.parametrize(
    ("reduced", "expected"),
    [
        ("1 - torch.stack(found).mean()", f"1 - {TOTAL} / kept.sum()"),
        ("torch.stack(found).sum()", TOTAL),
        ("sum(found) / len(found)", f"{TOTAL} / kept.sum()"),
        ("2 * torch.stack(found).mean()", f"2 * ({TOTAL} / kept.sum())"),
    ],
)
def test_a_loop_that_skips_turns_collects_all_values(reduced: str, expected: str) -> None:
    text = collecting(SKIP, f"    return {reduced}\n")
    end = f"    kept = torch.stack(kept)\n    return {expected}\n"
    got = results(text, "t[c].sum() == 0", "GB0170")["masked-list"]
    assert got == collecting(KEEP, end, "    kept = []\n")


@pytest.mark.parametrize(
    ("skip", "end"),
    [
        (SKIP, "    return found\n"),
        (SKIP, "    return torch.stack(found).max()\n"),
        (SKIP, "    print(found)\n    return sum(found)\n"),
        (SKIP.replace("continue", "break"), "    return sum(found)\n"),
        (SKIP + "        p[c] = 0\n", "    return sum(found)\n"),
        (SKIP + "        p = p * 2\n", "    return sum(found)\n"),
    ],
    ids=["list returned", "other reduction", "two uses", "break", "write", "carried value"],
)
def test_other_loops_with_lists_stay(skip: str, end: str) -> None:
    assert "masked-list" not in results(collecting(skip, end), "t[c].sum() == 0", "GB0170")
