"""Find operators in a failing graph that violate their declarations."""

from __future__ import annotations

import warnings
from typing import Any, Final

import torch

from ..cases import checking, repro
from ..cases.case import CaseOperation, FailureCase
from ..cases.oracle import execute, silence
from ..compat.graph_compat import operator_mode
from ..facts import FaultLocated, OperatorFault
from ..processes.children import run_child
from ..trace.export.texts import parse_failing_operator, schema

_CHECKS: Final = ("test_schema", "test_faketensor")
"""The checks of ``torch.library.opcheck`` for undeclared mutation of arguments and for the fake kernel."""
_PACKET: Final = "torch.ops."
_OF_TORCH: Final = frozenset(
    ("aten", "prims", "prim", "higher_order", "inductor", "quantized", "c10d", "c10d_functional")
)


def operator_at_fault(
    case: FailureCase, fault: FaultLocated, seconds: float
) -> tuple[OperatorFault | None, Any]:
    """Find an operator that does not do what it declares, and the stack of its call.

    ``torch.library.opcheck`` runs in a child process on the arguments that the operator gets in this graph.
    If all operators pass, the error of TorchInductor's own check of results may still name one. ``None`` and
    an empty stack if no operator is found.
    """
    own = {schema(item.target.removeprefix(_PACKET)): item for item in case.graph.operations if _is_own(item)}
    if not own:
        return None, ()
    name, said = run_child(lambda: _failed_check(case, own.keys()), seconds).answer or ("", "")
    if not name:
        name, said = parse_failing_operator(fault.failure.text)
    return (OperatorFault(name, said), own[name].calls) if name in own else (None, ())


def _is_own(operation: CaseOperation) -> bool:
    """Return whether an operation calls an operator that torch does not define."""
    namespace, _, _ = operation.target.removeprefix(_PACKET).partition(".")
    return (
        operation.target.startswith(_PACKET) and namespace not in _OF_TORCH and not namespace.startswith("_")
    )


def _failed_check(case: FailureCase, names: Any) -> tuple[str, str]:
    """Return the first operator of ``names`` that fails a check, with the reason.

    This runs the graph uncompiled. Both strings are empty if no operator fails.
    """
    silence()
    failed: list[tuple[str, str]] = []

    def checked(operator: Any, args: Any, kwargs: Any) -> Any:
        name = schema(str(operator))
        if name in names and not failed:
            failed.extend((name, said) for said in _failures(operator, args, kwargs))
        return operator(*args, **kwargs)

    namespace = execute(repro.program(case))
    with operator_mode(checked):
        checking.run(namespace["Repro"](), namespace["inputs"]())
    return failed[0] if failed else ("", "")


def _failures(operator: Any, args: Any, kwargs: Any) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = torch.library.opcheck(operator, args, kwargs, test_utils=_CHECKS, raise_exception=False)
    return [checking.first_line(item) for item in outcomes.values() if isinstance(item, BaseException)]
