"""Guards as torch writes them: the code, and the place in the comment behind it."""

from __future__ import annotations

import pytest
from fullgraph_compiler.trace.guards import GuardPlace, parse_tree, split_place


@pytest.mark.parametrize(
    "path",
    ["mp/block.py", "fullgraph-abc/Übungen λ mit torch/examples/block.py", "C:/Program Files/x y/block.py"],
)
@pytest.mark.parametrize(
    "line",
    ["qkv = self.qkv(x).view(b, self.heads)", "y = x[1:5]  # as in a: 3 in b", "", "z = {'a': 3}"],
)
def test_the_place_of_a_guard_is_no_part_of_its_code(path: str, line: str) -> None:
    hint = '(HINT: guard on "heads")'
    text = f"L['self'].heads == 4  # {line}  # {path}:22 in forward {hint}"
    assert split_place(text) == ("L['self'].heads == 4", GuardPlace(path, 22, "forward"))


def test_a_leaf_expects_what_its_code_compares_with() -> None:
    tree = (
        "+- RootGuardManager\n"
        "| +- GuardManager: source=L['self'], accessed_by=FrameLocalsGuardAccessor\n"
        "| | +- GuardManager: source=L['self'].heads, accessed_by=DictGetItemGuardAccessor('heads')\n"
        "| | | +- EQUALS_MATCH: L['self'].heads == 4  # x = self.heads  # mp/a b/block.py:22 in forward\n"
    )
    [leaf] = parse_tree(tree)
    assert (leaf.source, leaf.expected) == ("L['self'].heads", "4")
    assert leaf.place == GuardPlace("mp/a b/block.py", 22, "forward")
