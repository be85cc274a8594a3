"""Differences between two values: which of them only code notices that looks at more than numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from fullgraph_compiler.verify.differences import (
    LADDER,
    DifferenceRules,
    SnapshotComparison,
    SnapshotDifference,
)
from fullgraph_compiler.verify.snapshots import ValueSnapshots

GRADIENT = torch.tensor(1.5, requires_grad=True)


def difference(old: Any, new: Any) -> SnapshotDifference | None:
    """The first difference between two values."""
    before, after = (ValueSnapshots().take("`x`", value) for value in (old, new))
    rules = DifferenceRules(LADDER, strides=True)
    return next(SnapshotComparison(rules).between("`x`", before, after), None)


@pytest.mark.parametrize(
    ("old", "new", "mild"),
    [
        (1.5, torch.tensor(1.5), True),
        (3, torch.tensor([3]), True),
        (True, torch.tensor(True), True),
        (1.5, torch.tensor(2.5), False),
        (1.5, GRADIENT, False),
        (3.0, torch.tensor(3), False),
        (True, torch.tensor(1), False),
        (1.5, torch.tensor([1.5, 1.5]), False),
        (torch.arange(6.0).view(2, 3), torch.arange(6.0).view(2, 3).mT.contiguous().mT, True),
        (torch.arange(6.0).view(2, 3), torch.zeros(3, 2).mT, False),
        (torch.zeros(2), torch.zeros(2, 1), False),
    ],
)
def test_a_difference_is_mild_if_all_numbers_are_equal(old: Any, new: Any, mild: bool) -> None:
    found = difference(old, new)
    assert found is not None
    assert found.mild is mild


def test_python_numbers_that_differ_are_told_from_tensors() -> None:
    number, tensor = difference(1.5, 2.5), difference(torch.tensor(1.5), torch.tensor(2.5))
    assert number is not None
    assert tensor is not None
    assert (number.of_number, tensor.of_number) == (True, False)


def test_a_key_that_is_a_tensor_has_a_name_without_its_elements() -> None:
    assert difference({torch.ones(2): 1}, {torch.zeros(2): 1}) is None
