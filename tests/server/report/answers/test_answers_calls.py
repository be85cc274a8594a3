"""Calls that Dynamo cannot trace, and what nothing compiles, are told with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CallsWithoutGraph,
    CompileFailure,
    FrameStarted,
    GraphBreak,
    ModulesLoaded,
    RecompileLimit,
    RunFinished,
    StackFrame,
)
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
PYTHON = "/usr/lib/python3.11"
LIBRARY = f"{PYTHON}/site-packages"
OUTSIDE = "Make this call outside of compiled code, and pass in what the compiled code needs from its result."
C_OR_PYTHON = (
    "Dynamo does not know how to trace the builtin `{}.` This function is either a Python builtin (e.g. "
    "_warnings.warn) or a third-party C/C++ Python extension (perhaps created with pybind)."
)
SKIPPED = (
    "Dynamo developers have intentionally marked that the function `{}` in file `{}` should not be traced."
)
TEXT = """\
import torch

class Slow:
    def __getattribute__(self, name):
        return super().__getattribute__(name)

class Block(torch.nn.Module):
    def __init__(self):
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x

@torch.compile
def f(x, it):
    y = call(x)
    if x.data_ptr() % 16 != 0:
        y = y + 1
    return y

def cond_fn(i, x):
    return i > 0 and x.sum() < 100

def no_cond(i, x):
    return not i > 0

def with_none(i, x):
    return x is not None and i > 0
"""
CALL = StackFrame(FILE, 17, "f", 8, 17, 15)


def broken(
    explanation: str, *more: StackFrame, code: str = "GB0007", at: StackFrame = CALL, text: str = ""
) -> Finding:
    fact = GraphBreak(
        "0/0", code, "A reason", explanation, ("Torch's hint.",), "", "", (at, *more), False, text
    )
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, TEXT)}.get)
    (found,) = fold("program.py", 1, "2.13.0", [fact], workspace).findings
    return found


@pytest.mark.parametrize("name", ["zlib.crc32", "posix.stat", "_heapq.heappush"])
def test_a_function_of_c_of_the_standard_library_is_called_outside(name: str) -> None:
    found = broken(C_OR_PYTHON.format(name))
    assert found.explanation == f"`{name}` is written in C: Dynamo cannot trace it."
    assert found.hints == (OUTSIDE,)


def test_the_builtins_that_torch_has_other_words_for_are_the_same() -> None:
    found = broken("Dynamo does not know how to trace the Python builtin `_warnings._filters_mutated`.")
    assert found.hints == (OUTSIDE,)


def test_a_function_of_an_extension_can_be_an_operator() -> None:
    found = broken(C_OR_PYTHON.format("flash_attn_2_cuda.PyCapsule.fwd"))
    assert found.explanation == "`flash_attn_2_cuda.PyCapsule.fwd` is written in C: Dynamo cannot trace it."
    assert "torch.library.custom_op" in found.hints[0]
    assert "register_fake" in found.hints[0]
    assert found.hints[1] == f"Otherwise: {OUTSIDE}"


@pytest.mark.parametrize("name", ["_warnings.warn", "torch._C._something"])
def test_torchs_own_advice_stays_where_it_is_the_better(name: str) -> None:
    assert broken(C_OR_PYTHON.format(name)).hints == ("Torch's hint.",)


def test_what_a_library_calls_is_not_for_the_program_to_move() -> None:
    inner = StackFrame(f"{LIBRARY}/lib/core.py", 3, "read")
    assert OUTSIDE not in broken(C_OR_PYTHON.format("zlib.crc32"), inner).hints


def test_the_standard_library_between_is_no_library() -> None:
    inner = StackFrame("<frozen genericpath>", 19, "exists")
    assert broken(C_OR_PYTHON.format("posix.stat"), inner).hints == (OUTSIDE,)


def test_a_skipped_function_of_the_standard_library_is_called_outside() -> None:
    found = broken(SKIPPED.format("Random.shuffle", f"{PYTHON}/random.py"))
    assert (
        found.explanation
        == "`Random.shuffle` is part of Python's standard library: torch keeps it out of graphs."
    )
    assert found.hints == (OUTSIDE,)


def test_a_skipped_function_of_a_library_keeps_torchs_words() -> None:
    found = broken(SKIPPED.format("run", f"{LIBRARY}/lib/core.py"))
    assert found.hints == ("Torch's hint.",)


def test_the_wrapper_of_a_schedule_is_told() -> None:
    found = broken(SKIPPED.format("SGD.step", f"{LIBRARY}/torch/optim/lr_scheduler.py"))
    assert "has wrapped `step`" in found.explanation
    assert found.hints == ()


def test_a_method_of_an_object_is_called_outside() -> None:
    said = "Dynamo does not know how to trace method `get` of class `ContextVar`"
    assert broken(said, code="GB0156").hints == (OUTSIDE,)
    special = "Dynamo does not know how to trace method `__eq__` of class `Other`"
    assert broken(special, code="GB0156").hints == ("Torch's hint.",)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("Dynamo does not know how to iterate over `UserDefinedObjectVariable(zip)`.", "Pass a list"),
        ("'zip' implements '__iter__' in C and Dynamo has no model for it.", "Pass a list"),
        ("'zip' implements '__next__' in C and Dynamo has no model for it.", "Take"),
        (
            "Dynamo does not support next() on zip. Add tp_iternext_impl to this VariableTracker subclass.",
            "Take",
        ),
    ],
)
def test_an_iterator_from_outside_is_to_be_a_list(said: str, hint: str) -> None:
    found = broken(said, code="GB0811")
    assert found.explanation.endswith(
        "This `zip` was created outside of this graph: Dynamo cannot iterate over it."
    )
    assert found.hints[0].startswith(hint)
    assert len(found.hints) == 1


def test_what_is_no_iterator_is_not_called_one() -> None:
    said = "Dynamo does not know how to iterate over `UserDefinedObjectVariable(Slow)`."
    assert broken(said, code="GB0811").hints == ("Torch's hint.",)


def test_a_class_with_getattribute_is_told_with_its_line() -> None:
    found = broken("Dynamo does not know how to trace the function `<class '__main__.Slow'>`", code="GB0147")
    assert "`Slow` defines `__getattribute__` (line 4)" in found.explanation
    other = broken("Dynamo does not know how to trace the function `<class '__main__.Block'>`", code="GB0147")
    assert other.hints == ("Torch's hint.",)


def test_copies_and_locks_and_addresses_have_answers() -> None:
    copied = broken("Dynamo does not support copy.deepcopy() on tensors.", code="GB4198")
    assert copied.hints[0] == "Copy a tensor with `.clone()`."
    lock = broken("Dynamo does not know how to enter a `lock` context manager.", code="GB0142")
    assert lock.hints == ("Hold the lock around the compiled call, not in it.",)
    address = broken("Exception will propagate.", code="GB0088", at=StackFrame(FILE, 18, "f", 7, 18, 25))
    assert address.explanation.endswith("Tensors have no address while Dynamo traces.")
    assert "torch.compiler.is_compiling()" in address.hints[0]


def test_what_nonstrict_trace_is_given_is_named() -> None:
    found = broken("Invalid.", code="GB0236", text="Encountered input of type <Cfg>.")
    assert "the `Cfg`" in found.hints[0]
    assert "register_dataclass" in broken("Unsupported.", code="GB0251").hints[0]


INSIDE = "Inside of the higher-order operator `{}`, which must be captured completely.\n"
CHANGES = "Mutating a variable from outside the scope of this HOP is not supported."
ATTRIBUTE = "Attribute 'calls' on an outer-scope object was changed from 0 to 1."


def test_a_branch_returns_what_it_may_not_keep() -> None:
    found = broken(INSIDE.format("torch.cond") + CHANGES, code="GB0067")
    assert found.hints == (
        "Move this after the call of `torch.cond`, and return the values it needs from both functions.",
    )


def test_what_a_gradient_changes_stays_out_of_it() -> None:
    at = StackFrame(FILE, 12, "backward", 8, 12, 23)
    found = broken(INSIDE.format("autograd.Function") + CHANGES, code="GB0067", at=at)
    assert found.hints == ("Leave this out of `backward`, or call `apply` outside of compiled code.",)


def test_results_of_two_types_are_told() -> None:
    said = (
        "got RuntimeError(\"When merging two branches' output in torch.cond,  expected same dtype but got "
        'torch.int32 and torch.float32.")'
    )
    found = broken(said, code="GB4315")
    assert "differ in dtype: `torch.int32` and `torch.float32`." in found.explanation
    assert found.hints == ("Return the same dtype from both, as with `.to(torch.float32)`.",)


def test_a_condition_of_cond_is_a_tensor() -> None:
    text = "import torch\n\n@torch.compile\ndef f(x):\n    return torch.cond(not x.any(), a, b, (x,))\n"
    stack = (StackFrame(FILE, 5, "f", 22, 5, 33),)
    message = "Could not guard on data-dependent expression Eq(u0, 1)"
    fact = CompileFailure("0/0", "capture", "UserError", message, stack, "", "Caused by", (), "", message)
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (found,) = fold("program.py", 1, "2.13.0", [fact], workspace).findings
    assert found.hints == ("Write `torch.logical_not(x.any())` instead, which is a tensor.",)
    assert found.explanation.startswith("`not` needs the truth value of a tensor")


def test_a_change_in_a_checkpoint_is_told_with_its_line() -> None:
    found = broken(INSIDE.format("torch.utils.checkpoint.checkpoint") + ATTRIBUTE, code="GB4413")
    assert found.hints[0] == (
        "Move the assignment of `calls` (line 12) after the call of "
        "`torch.utils.checkpoint.checkpoint`, or before it."
    )
    assert "skip_fwd_side_effects_in_bwd_under_checkpoint" in found.hints[1]


LOOP = INSIDE.format("torch.while_loop")
BRANCHING = "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`)."


@pytest.mark.parametrize(
    ("row", "function", "instead"),
    [(23, "cond_fn", "`(i > 0) & (x.sum() < 100)`"), (26, "no_cond", "`torch.logical_not(i > 0)`")],
)
def test_and_of_tensors_is_an_operation(row: int, function: str, instead: str) -> None:
    at = StackFrame(FILE, row, function, 11, row, 16)
    found = broken(LOOP + BRANCHING, code="GB0170", at=at)
    assert found.hints == (f"Write {instead} instead, which is a tensor.",)


def test_a_part_that_is_no_tensor_is_left_alone() -> None:
    at = StackFrame(FILE, 29, "with_none", 11, 29, 20)
    assert broken(LOOP + BRANCHING, code="GB0170", at=at).hints == ("Torch's hint.",)
    inside = StackFrame(FILE, 23, "cond_fn", 11, 23, 16)
    assert broken(BRANCHING, code="GB0170", at=inside).hints == ("Torch's hint.",)


def uncompiled(text: str, fact: CallsWithoutGraph) -> tuple[str, ...]:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    facts = (ModulesLoaded((FILE,)), fact, RunFinished("finished", 1.0))
    (found,) = fold("program.py", 1, "2.13.0", facts, workspace).findings
    return found.hints


NOTHING = CallsWithoutGraph("", "", 0, 0)
ON_SELF = """\
import torch
class Net(torch.nn.Module):
    def load(self):
        self = torch.compile(self)
"""
RETURNED = "import torch\ndef make(net):\n    net = torch.compile(net)\n    return net\n"


def test_a_compiled_function_that_is_dropped_is_told() -> None:
    (hint,) = uncompiled("import torch\nnet = make()\ntorch.compile(net)\n", NOTHING)
    assert hint.startswith(
        "The result of `torch.compile` on program.py:3 is not used: store it, and call the result."
    )
    assert "`net.compile()`" in hint
    (hint,) = uncompiled(ON_SELF, NOTHING)
    assert "program.py:4" in hint
    assert "`self.compile()`" in hint


@pytest.mark.parametrize(
    "text",
    [
        RETURNED,
        "import torch\nfast = torch.compile(net)\n",
        "import torch\nrun(torch.compile(net))\n",
        "import torch\ndef f(net):\n    while True:\n        use(net)\n        net = torch.compile(net)\n",
        "import torch\ndef f(n):\n    def g():\n        return n\n    n = torch.compile(n)\n    g()\n",
    ],
)
def test_what_may_be_called_elsewhere_is_not_called_dropped(text: str) -> None:
    assert uncompiled(text, NOTHING) == ()


def test_a_generator_function_is_not_compiled() -> None:
    text = "import torch\n\n@torch.compile\ndef f(x):\n    yield x\n\nlist(f(1))\n"
    call = (StackFrame(FILE, 7, "<module>"),)
    (hint,) = uncompiled(text, CallsWithoutGraph("f", FILE, 3, 1, call))
    assert hint == (
        "`f` is a generator function, which Dynamo does not compile: compile the functions it calls."
    )
    plain = text.replace("yield x", "return x")
    assert uncompiled(plain, CallsWithoutGraph("f", FILE, 3, 1, call)) == ()


LIMIT = "import torch\ntorch._dynamo.config.{} = {}\n\n@torch.compile\ndef f(x):\n    return x\n"
THREAD = StackFrame(f"{PYTHON}/threading.py", 975, "run")


def limited(text: str, *stack: StackFrame) -> Finding:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    fact = RecompileLimit(
        "0/8", "f", FILE, 4, 8, "recompile_limit", False, (), (*stack, StackFrame(FILE, 5, "w"))
    )
    (found,) = fold("program.py", 1, "2.13.0", [fact], workspace).findings
    return found


@pytest.mark.parametrize("setting", ["recompile_limit", "cache_size_limit"])
def test_a_limit_holds_for_the_thread_that_sets_it(setting: str) -> None:
    found = limited(LIMIT.format(setting, 32), THREAD)
    assert "`recompile_limit` from line 2 does not apply to this thread" in found.explanation
    assert found.hints[0] == "Set `recompile_limit` in this thread, too."


def test_a_limit_that_holds_is_not_blamed_on_threads() -> None:
    for found in (
        limited(LIMIT.format("recompile_limit", 8), THREAD),
        limited(LIMIT.format("verbose", 32), THREAD),
    ):
        assert "thread" not in found.explanation
    assert "thread" not in limited(LIMIT.format("recompile_limit", 32)).explanation


IN_LIBRARY = """\
import inspect

def wants(step):
    return inspect.getfullargspec(step).args

@torch.compile{}
def f(x):
    return x if wants(g) else -x
"""
INSPECT = StackFrame(f"{PYTHON}/inspect.py", 2474, "_signature_from_callable")


def failed_in(*stack: StackFrame, options: str = "") -> Finding:
    text = IN_LIBRARY.format(options)
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    bug = "This is a bug in torch, not in the program."
    said = "'method' object has no attribute '__dict__'"
    fact = CompileFailure("0/0", "capture", "AttributeError", said, stack, "", bug, ("Report it",))
    started = FrameStarted("0/0", "f", FILE, 6, ())
    (found,) = fold("program.py", 1, "2.13.0", [started, fact], workspace).findings
    return found


def test_a_function_whose_library_call_dynamo_fails_in_can_be_disabled() -> None:
    stack = (StackFrame(FILE, 8, "f"), StackFrame(FILE, 4, "wants"), INSPECT)
    (hint,) = failed_in(*stack).hints
    assert hint.startswith("Write `@torch.compiler.disable` above `wants` (line 3): with that, it runs")
    (hint,) = failed_in(*stack, options="(fullgraph=True)").hints
    assert "with that, and `fullgraph=True` (line 6) left out, it runs uncompiled" in hint


@pytest.mark.parametrize(
    "stack",
    [
        (StackFrame(FILE, 8, "f"), INSPECT),
        (StackFrame(FILE, 8, "f"), StackFrame(FILE, 4, "wants")),
        (StackFrame(f"{LIBRARY}/torch/_functorch/apis.py", 1, "vmap"), StackFrame(FILE, 4, "wants"), INSPECT),
    ],
)
def test_what_may_not_be_disabled_is_not_advised(stack: tuple[StackFrame, ...]) -> None:
    assert not any("disable" in hint for hint in failed_in(*stack).hints)
