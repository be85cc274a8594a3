"""Breaks and errors are told with the lines of the program that are their cause, and with what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    CallsWithoutGraph,
    CompileFailure,
    Fact,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    ModulesLoaded,
    ProgramRaised,
    Recompile,
    RecompileLimit,
    RunFinished,
    StackFrame,
)
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TORCH = "/w/.venv/lib/python3.11/site-packages/torch"
MODULE = f"{TORCH}/nn/modules/module.py"
TORCHS_HINT = "Remove the `torch.compiler.disable` call"
DISABLED = "Skip calling `torch.compiler.disable()`d function"


def only(text: str, *facts: Fact) -> Finding:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", facts, workspace).findings
    return finding


def place(text: str, code: str, function: str) -> StackFrame:
    """The frame at the first occurrence of some code in a text."""
    before = text[: text.index(code)]
    column = len(before) - (before.rfind("\n") + 1)
    row = before.count("\n") + 1
    return StackFrame(FILE, row, function, column, row, column + len(code))


def skipping(name: str, reason: str = "None") -> str:
    return (
        f"Skip calling function `<function {name} at 0x7f>` since it was wrapped with "
        f"`torch.compiler.disable` (reason: {reason})"
    )


def broken(explanation: str, *stack: StackFrame, reason: str = DISABLED, code: str = "GB0098") -> GraphBreak:
    return GraphBreak(
        "0/0",
        code,
        reason,
        explanation,
        ("Remove the `torch.compiler.disable` call",),
        "",
        "",
        stack,
        False,
        "",
    )


def failed(explanation: str, *stack: StackFrame, message: str = DISABLED, text: str = "") -> CompileFailure:
    return CompileFailure(
        "0/0", "capture", "Unsupported", message, stack, "GB0098", explanation, ("Remove it",), "", text
    )


def raised(message: str, *stack: StackFrame) -> ProgramRaised:
    return ProgramRaised("RuntimeError", message, stack, "")


ATTENTION = """\
import torch
from torch.compiler import disable

@disable(reason="a kernel (C++)")
def attend(q):
    return q.softmax(-1)

class Block(torch.nn.Module):
    def forward(self, q):
        return attend(q)

block = torch.compile(Block(), fullgraph=True)
block(torch.ones(2))
"""


def test_a_disabled_function_is_told_with_its_line_and_what_keeps_it_in_the_graph() -> None:
    call = place(ATTENTION, "attend(q)\n\nblock", "forward")
    found = only(ATTENTION, broken(skipping("attend", "a kernel (C++)"), call))
    assert found.explanation == (
        "`attend` is kept out of graphs by `torch.compiler.disable` (line 4): a kernel (C++). "
        "The graph ends before this call."
    )
    assert found.hints[0] == "If Dynamo can trace `attend`, remove `torch.compiler.disable` (line 4)."
    assert "nonstrict_trace" in found.hints[1]
    assert "torch.library.custom_op" in found.hints[1]
    assert "Remove the" not in " ".join(found.hints)


def test_an_error_of_a_break_names_the_line_of_its_fullgraph() -> None:
    call = place(ATTENTION, "attend(q)\n\nblock", "forward")
    started = FrameStarted("0/0", "forward", FILE, 9, (StackFrame(FILE, 13, "<module>"),))
    found = only(ATTENTION, started, failed(skipping("attend"), call))
    assert "`fullgraph=True` (line 12) turns this graph break into an error." in found.explanation
    assert "ends before" not in found.explanation
    assert found.hints[-1].startswith("If the break is intended, leave `fullgraph=True` out")


def test_without_fullgraph_in_the_text_nothing_is_said_of_it() -> None:
    text = ATTENTION.replace(", fullgraph=True", "")
    call = place(text, "attend(q)\n\nblock", "forward")
    assert "fullgraph" not in only(text, failed(skipping("attend"), call)).explanation


METHOD = """\
class Net(Module):
    @torch.compiler.disable
    def log(self, x):
        return x

net(x)
"""
OF_METHOD = (
    "Skip inlining function <function Net.log at 0x7f> since it was wrapped with `torch.compiler.disable` "
    "(reason: None)"
)
HELD = "net = Net()\nnet.b = torch.compiler.disable(Other())\n\nnet(x)\n"
OF_MODULE = (
    "Dynamo determined that a graph break should occur when calling `L['self']._modules['b']`. Reason: "
    "Optimized `nn.Module` is wrapped with `torch.compiler.disable` (reason: None)"
)


@pytest.mark.parametrize(
    ("text", "explanation", "name", "hints"),
    [(METHOD, OF_METHOD, "`Net.log`", 3), (HELD, OF_MODULE, "`self.b`", 2)],
)
def test_methods_and_modules_are_told_as_functions_are(
    text: str, explanation: str, name: str, hints: int
) -> None:
    found = only(text, broken(explanation, place(text, "net(x)", "<module>"), code="GB0099"))
    assert found.explanation.startswith(f"{name} is kept out of graphs by `torch.compiler.disable` (line 2).")
    assert len(found.hints) == hints


def test_a_disabled_function_that_is_not_found_can_be_called_elsewhere() -> None:
    call = place(ATTENTION, "attend(q)\n\nblock", "forward")
    (hint,) = only(ATTENTION, broken(skipping("their_kernel"), call)).hints
    assert hint.startswith("Call `their_kernel` outside of compiled code.")


def test_the_only_fullgraph_of_the_callers_counts_where_none_names_the_function() -> None:
    text = ATTENTION.replace(
        "torch.compile(Block(), fullgraph=True)", "torch.compile(build(), fullgraph=True)"
    )
    call = place(text, "attend(q)\n\nblock", "forward")
    started = FrameStarted("0/0", "forward", FILE, 9, (StackFrame(FILE, 13, "<module>"),))
    assert "`fullgraph=True` (line 12)" in only(text, started, failed(skipping("attend"), call)).explanation
    elsewhere = FrameStarted("0/0", "forward", FILE, 9, (StackFrame("/w/other.py", 1, "<module>"),))
    assert "fullgraph" not in only(text, elsewhere, failed(skipping("attend"), call)).explanation


CALLER = """\
import torch

@torch.compile(fullgraph=True)
def scores(x):
    return attend(x)

@torch.compiler.disable
def evaluate(x):
    return scores(x)

evaluate(torch.ones(2))
"""


def test_disable_does_not_reach_what_is_compiled_by_itself() -> None:
    calls = StackFrame(FILE, 11, "<module>"), StackFrame(FILE, 9, "evaluate")
    started = FrameStarted("0/0", "scores", FILE, 3, calls)
    found = only(CALLER, started, failed("why", place(CALLER, "attend(x)", "scores")))
    assert (
        "`torch.compiler.disable` on `evaluate` (line 7) does not apply to functions compiled "
        "themselves, such as `scores` (line 3)."
    ) in found.explanation
    assert '`@torch.compiler.set_stance("force_eager")`' in found.hints[0]


HOOK = """\
import torch

@torch.compiler.disable
def record(module, args):
    print(module)

net = torch.nn.Linear(2, 2)
net.register_forward_pre_hook(record)

@torch.compile
def step(x):
    return net(x)
"""


def test_a_hook_is_told_with_the_line_that_registers_it() -> None:
    stack = place(HOOK, "net(x)", "step"), StackFrame(MODULE, 1821, "inner")
    found = only(HOOK, broken(skipping("record"), *stack))
    assert "`record` is a hook, registered on line 8" in found.explanation
    assert found.hints[1] == "Otherwise register it only on modules that are not compiled."


def in_hook(text: str, printed: str, hook: str, why: str = "why") -> Finding:
    """The finding of a break at a ``print`` in a hook."""
    stack = place(text, "net(x)", "step"), StackFrame(MODULE, 1821, "inner"), place(text, printed, hook)
    return only(text, broken(why, *stack, reason="print called", code="GB0059"))


def test_a_break_in_a_hook_says_so_too() -> None:
    found = in_hook(HOOK, "print(module)", "record")
    assert "registered on line 8" in found.explanation
    assert "is_compiling()" in found.hints[0]
    assert found.hints[1:] == (TORCHS_HINT,), "torch's hints stay"


MAKER = """\
def keep(n):
    def hook(m, i, o):
        print(n)
    return hook

net.register_forward_hook(keep('a'))
y = net(x)
"""


def test_a_hook_that_a_function_makes_is_found() -> None:
    found = in_hook(MAKER, "print(n)", "hook")
    assert "`keep('a')` is a hook, registered on line 6" in found.explanation


def test_what_is_said_is_in_the_first_paragraph() -> None:
    found = in_hook(HOOK, "print(m", "record", "why\n\nand more")
    assert "registered on line 8" in found.explanation.partition("\n\n")[0]


CHECKPOINT = """\
import torch
from torch.utils.checkpoint import checkpoint

def inner(x):
    y = x.sin()
    print(y)
    return y

@torch.compile
def step(x):
    return checkpoint(inner, x.cos())
"""


def test_a_break_in_a_checkpoint_makes_all_of_its_function_eager() -> None:
    stack = place(CHECKPOINT, "checkpoint(inner, x.cos())", "step"), place(CHECKPOINT, "print(y)", "inner")
    explanation = "Inside of the higher-order operator `torch.utils.checkpoint.checkpoint`.\nwhy"
    found = only(CHECKPOINT, broken(explanation, *stack, reason="print", code="GB0059"))
    assert found.message.endswith("breaks the graph; the whole of `inner` runs eagerly")
    assert "`inner`, which line 11 checkpoints, runs eagerly" in found.explanation
    assert "Compile `inner` by itself" in found.hints[0]


CLASS = """\
import torch

@torch.compile
def step(x, scale):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * scale

    return Scaled.apply(x)
"""


def test_a_class_in_a_compiled_function_is_to_be_defined_once() -> None:
    stack = (StackFrame(FILE, 5, "step"),)
    found = only(CLASS, broken("why", *stack, reason="Invalid call to __build_class__", code="GB8977"))
    assert "Each call creates a new class `Scaled`." in found.explanation
    assert found.hints == (
        (
            "Define `Scaled` once, outside of compiled code: at module level, or in `__init__`. "
            "Pass it the variables that it takes from the enclosing function: `scale`."
        ),
    )


DDP = """\
from torch.nn.parallel import DistributedDataParallel as DDP
model = torch.compile(DDP(net))
model(x)
"""


def test_ddp_that_sends_buffers_says_so() -> None:
    stack = (
        place(DDP, "model(x)", "<module>"),
        StackFrame(f"{TORCH}/nn/parallel/distributed.py", 2363, "_sync_buffers"),
    )
    found = only(DDP, broken("why", *stack, code="GB0007"))
    assert "broadcasts the module's buffers" in found.explanation
    assert found.hints[0].endswith("`DistributedDataParallel(torch.compile(net))` (line 2).")


def test_ddp_without_a_graph_says_what_to_compile() -> None:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, DDP)}.get)
    file, call = f"{TORCH}/nn/parallel/distributed.py", (place(DDP, "model(x)", "<module>"),)
    facts = (
        CallsWithoutGraph("DistributedDataParallel.forward", file, 1, 3, call),
        RunFinished("finished", 1.0),
    )
    (found,) = fold("program.py", 1, "2.13.0", facts, workspace).findings
    assert found.hints == (
        "Compile the module before it is wrapped: `DistributedDataParallel(torch.compile(net))` (line 2).",
    )


def test_a_transform_of_a_compiled_function_is_to_be_compiled_itself() -> None:
    text = "fast = torch.compile(net)\ntorch.func.jacrev(fast)(x)\n"
    stack = (place(text, "torch.func.jacrev(fast)(x)", "<module>"),)
    found = only(text, broken("why", *stack, reason="Unsupported functorch tracing attempt", code="GB0149"))
    assert found.hints[0].startswith("Compile the function that calls the transform")


COND = """\
import torch

def keep(x):
    return x, x.sum()

@torch.compile
def gate(x):
    return torch.cond(x.sum() > 0, lambda x: (x * 2, x.sum()), keep, (x,))
"""
OF_STATE = (
    'Error(s) in loading state_dict for {name}:\n\tMissing key(s) in state_dict: "{missing}". \n\t'
    'Unexpected key(s) in state_dict: "{unexpected}". '
)
ALIASING = "Developer debug context: Input-to-output aliasing detected at nodes l_x_ and l_x_ in"


def test_the_branch_that_returns_its_input_is_named() -> None:
    stack = place(COND, "torch.cond(", "gate"), place(COND, "x, x.sum()", "keep")
    found = only(COND, failed("why", *stack, message="aliasing", text=ALIASING))
    assert "The false branch `keep` returns its input `x` itself." in found.explanation
    assert found.hints == ("Return a copy: `x.clone()` instead of `x`.",)


def test_of_two_lambdas_in_a_line_the_column_tells() -> None:
    text = COND.replace("lambda x: (x * 2, x.sum()), keep", "lambda x: x * 2, lambda x: x")
    stack = place(text, "torch.cond(", "gate"), place(text, "x, (x,))", "<lambda>")
    found = only(text, failed("why", *stack, message="aliasing", text=ALIASING))
    assert "The false branch returns its input `x` itself." in found.explanation


def test_a_loop_that_captures_what_it_carries_is_told() -> None:
    text = (
        "While executing %w : [num_users=1] = call_function[target=torch.ops.higher_order.while_loop](args = "
        "(%cond_fn_0, %body_fn_0, (%start, %l_table_), (%l_rows_, %l_table_)), kwargs = {})"
    )
    message = "backend='inductor' raised: RuntimeError: cond_fn might be aliasing the input or the output!"
    failure = CompileFailure("0/0", "backend", "BackendCompilerFailed", message, (), text=text)
    found = only("", failure)
    assert "The loop carries `table`" in found.explanation
    assert ".clone()" in found.hints[0]


@pytest.mark.parametrize(
    ("text", "message", "file", "said", "hint"),
    [
        (
            "model = torch.compile(net)\ng = torch.autograd.grad(model(x), x, create_graph=True)\nlost()\n",
            "torch.compile with aot_autograd does not currently support double backward",
            "_functorch/x.py",
            "`create_graph=True` asks for (line 2)",
            "`torch.func.grad`",
        ),
        (
            "@torch.compile\ndef heads(x): return x.unbind(0)\nlost()\n",
            "Trying to backward through the graph a second time (or ...). Specify retain_graph=True",
            "_functorch/_aot_autograd/subclass_codegen.py",
            "share one backward",
            "Call `backward()` once",
        ),
        (
            "step = torch.compile(run)\nfor x in xs:\n    loss = step(x, h); lost()\n",
            "Trying to backward through the graph a second time (or ...). Specify retain_graph=True",
            "_functorch/_aot_autograd/subclass_codegen.py",
            "share one backward",
            "`.detach()`",
        ),
        (
            "def f(x): return x\nfast = torch.compile(f)\nlost()\n",
            "Can't pickle <function f at 0x7f>: it's not the same object as __main__.f",
            "x.py",
            "`torch.compile(f)` (line 2) created another",
            "Pass `f` uncompiled",
        ),
        (
            "net = torch.compile(net)\n\nlost(torch.jit.trace(net, x))\n",
            "Detected that you are using FX to torch.jit.trace a dynamo-optimized function. Not supported.",
            "_dynamo/eval_frame.py",
            "`net` is compiled (line 1)",
            "`net._orig_mod`",
        ),
        (
            "fast = torch.compile(net)\n\nlost(torch.fx.symbolic_trace(fast))\n",
            'Module [OptimizedModule] is missing the required "forward" function',
            "nn/modules/module.py",
            "`fast` is compiled (line 1)",
            "Trace the uncompiled original: `net`.",
        ),
        (
            "@torch.compile\ndef f(x): return x\nlost(torch.jit.trace(f, x))\n",
            "Detected that you are using FX to torch.jit.trace a dynamo-optimized function. Not supported.",
            "_dynamo/eval_frame.py",
            "`f` is compiled (line 1)",
            "fast = torch.compile(f)",
        ),
        (
            "net.compile()\n\nlost(torch.jit.trace(net, x))\n",
            "Detected that you are using FX to torch.jit.trace a dynamo-optimized function. Not supported.",
            "_dynamo/eval_frame.py",
            "`net` is compiled (line 1)",
            "Trace `net` before line 1.",
        ),
        (
            "act = torch.compile(relu)\n\ndef forward(x): return lost(act(x))\n",
            "Detected that you are using FX to torch.jit.trace a dynamo-optimized function. Not supported.",
            "_dynamo/eval_frame.py",
            "`act` is compiled (line 1)",
            "call the uncompiled function",
        ),
        (
            "fast = torch.compile(net)\n\nlost(torch.jit.script(fast))\n",
            "Unknown type annotation: 'Callable[..., Any]' at ",
            "jit/annotations.py",
            "`fast` is compiled (line 1)",
            "Script the uncompiled original: `net`.",
        ),
        (
            "new.load_state_dict(state)\nlost()\n",
            OF_STATE.format(name="Net", missing="w", unexpected="_orig_mod.w"),
            "nn/modules/module.py",
            "The state of a compiled module is loaded into an uncompiled one.",
            "`compiled._orig_mod`",
        ),
        (
            "new.load_state_dict(state)\nlost()\n",
            OF_STATE.format(name="OptimizedModule", missing="_orig_mod.w", unexpected="w"),
            "nn/modules/module.py",
            "The state of an uncompiled module is loaded into a compiled one.",
            "`compiled._orig_mod`",
        ),
        (
            "fast = torch.compile(fn)\n@functools.wraps(fast)\ndef call(x): return fast(x); lost()\n",
            "compile_wrapper already has a get_compiler_config attribute",
            "_dynamo/eval_frame.py",
            "`functools.wraps(fast)` (line 2)",
            "`functools.wraps(fn)`",
        ),
        (
            "opt.step = torch.compile(opt.step)\n\nlost()\n",
            "'function' object has no attribute '__func__'",
            "optim/lr_scheduler.py",
            "but line 1 has replaced",
            "Create the scheduler before line 1.",
        ),
        (
            "fast = torch.compile(losses)\n\nlost()\n",
            "It looks like you're trying to call a compiled backward function within vmap/grad/vjp.",
            "__init__.py",
            "`losses` is compiled (line 1)",
            "torch.compile(torch.func.jacrev(losses))",
        ),
    ],
)
def test_an_error_is_told_with_the_lines_of_its_cause(
    text: str, message: str, file: str, said: str, hint: str
) -> None:
    stack = place(text, "lost(", "<module>"), StackFrame(f"{TORCH}/{file}", 1, "f")
    found = only(text, raised(message, *stack))
    assert said in found.explanation
    assert hint in found.hints[0]
    assert "Specify" not in found.message


def test_a_gradient_that_breaks_the_graph_is_to_be_traced() -> None:
    text = "fast = torch.compile(step)\ng = torch.autograd.grad(y, x, create_graph=True)\nlost()\n"
    grad = broken("with trace_autograd_ops set to False", place(text, "torch.autograd.grad", "step"))
    message = "torch.compile with aot_autograd does not currently support double backward"
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    facts = grad, raised(message, place(text, "lost()", "<module>"))
    (found,) = (
        item for item in fold("p", 1, "2.13.0", facts, workspace).findings if item.kind != "graph-break"
    )
    assert found.hints[0] == "Keep line 2 in the graph: `torch._dynamo.config.trace_autograd_ops = True`."


def test_a_compiled_module_is_found_in_the_calls_that_led_to_an_error() -> None:
    text = "def count(m, x):\n    return torch.jit.trace(m, x)\n\nnet = torch.compile(net)\ncount(net, x)\n"
    stack = place(text, "count(net, x)", "<module>"), place(text, "torch.jit.trace(m, x)", "count")
    message = "Detected that you are using FX to torch.jit.trace a dynamo-optimized function."
    found = only(text, raised(message, *stack, StackFrame(f"{TORCH}/_dynamo/eval_frame.py", 1, "f")))
    assert "`net` is compiled (line 4)" in found.explanation
    assert "`net._orig_mod`" in found.hints[0]


def test_an_operator_that_returns_its_input_is_named() -> None:
    text = (
        '@torch.library.custom_op("scan::forward", mutates_args=())\n'
        "def scan(x: Tensor) -> Tensor:\n    return x\n\nlost()\n"
    )
    message = (
        "forward (with implementation in <module 'torch'>): The output of this custom operator (1) must not "
        "also be an input to this custom operator and (2) may not alias any inputs"
    )
    found = only(text, raised(message, place(text, "lost()", "<module>")))
    assert "`scan::forward` returns an input" in found.message
    assert "on line 1" in found.explanation
    assert "(line 3)" in found.hints[0]


def test_a_function_that_cannot_be_pickled_for_another_reason_has_no_answer() -> None:
    text = "def f(x): return x\nlost()\n"
    message = "Can't pickle <function f at 0x7f>: it's not the same object as __main__.f"
    found = only(text, raised(message, place(text, "lost()", "<module>")))
    assert (found.explanation, found.hints) == ("", ())


RESUMED = """\
import torch

@torch.compile
def step(rows, x):
    for row in rows:
        if any_of(row):
            return x
    count = x.item()
    kept, left = x.tolist()
    class Made:
        pass
    y = scale(x, x.item())
    return y + count + kept
"""


def handed_over(code: str, index: int, failure: GuardFailure) -> tuple[Fact, ...]:
    """A break at some code, and a recompilation of what follows for a value that was on the stack."""
    frame, source = place(RESUMED, code, "step"), f"L['___stack{index}']{failure.source}"
    call = (StackFrame(FILE, 20, "<module>"),)
    return (
        FrameStarted("0/0", "step", FILE, 3, call),
        GraphBreak("0/0", "GB0124", "item called", "why", (), "", "", (*call, frame), False, ""),
        FrameStarted("1/0", "step", FILE, 3, call, frame.row),
        FrameStarted("1/1", "step", FILE, 3, call, frame.row),
        Recompile("1/1", (replace(failure, source=source),)),
        RunFinished("finished", 1.0),
    )


NUMBER = GuardFailure("1/0", "", "EQUALS_MATCH", "", "4", "5", None, (StackFrame(FILE, 13, "step"),))
ITEMS = GuardFailure("1/0", "", "TUPLE_ITERATOR_LEN", "", "4", "3", changed="number of items")
OBJECT = GuardFailure("1/0", "", "ID_MATCH", "", "the same object (step.<locals>.Made)")


@pytest.mark.parametrize(
    ("code", "index", "failure", "said"),
    [
        ("x.item()", 0, NUMBER, "`count` was 4, is now 5"),
        ("x.tolist()", 0, replace(NUMBER, source="[1]"), "`left` was 4, is now 5"),
        ("any_of(row)", 0, ITEMS, "number of items left of `rows` was 4, is now 3"),
        ("Made", 0, OBJECT, "`Made` is no longer the same object (step.<locals>.Made)"),
        ("x.item())", 1, NUMBER, "a value from before a graph break was 4, is now 5"),
    ],
)
def test_a_value_from_before_a_break_has_its_name_and_leads_to_the_break(
    code: str, index: int, failure: GuardFailure, said: str
) -> None:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, RESUMED)}.get)
    facts = handed_over(code, index, failure)
    findings = fold("program.py", 1, "2.13.0", facts, workspace).findings
    (found,) = (item for item in findings if item.kind == "recompile")
    assert found.message == f"recompiled: {said}"
    row = place(RESUMED, code, "step").row
    (hint,) = found.hints
    assert hint.startswith(f"Remove the graph break on line {row}: this value is only guarded because")


def test_a_tensor_from_before_a_break_can_change_without_it() -> None:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, RESUMED)}.get)
    size = replace(NUMBER, kind="TENSOR_MATCH", changed="size", dimension=0)
    findings = fold("program.py", 1, "2.13.0", handed_over("x.item()", 0, size), workspace).findings
    (found,) = (item for item in findings if item.kind == "recompile")
    assert "size of `count` at dimension 0" in found.message
    assert "Remove the graph break" not in " ".join(found.hints)


def test_a_limit_names_values_from_before_a_break_too() -> None:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, RESUMED)}.get)
    facts = handed_over("x.item()", 0, NUMBER)
    limit = RecompileLimit("1/2", "step", FILE, 3, 2, "recompile_limit", False)
    findings = fold("program.py", 1, "2.13.0", (*facts, limit), workspace).findings
    (found,) = (item for item in findings if item.kind == "recompile-limit")
    assert found.explanation == "It was compiled again because `count` was 4, is now 5."
    assert found.hints[0].startswith("Remove the graph break on line 8")


MADE = """\
import torch

def make(op):
    @torch.compile
    def act(x):
        return op(x)
    return act

def count():
    number = 0
    def act(x):
        return x * number
    return torch.compile(act)
"""


@pytest.mark.parametrize(
    ("row", "source", "shared"),
    [(4, "L['op']", True), (4, "L['x']", False), (11, "L['number']", False), (11, "G['number']", False)],
)
def test_functions_that_one_function_makes_share_their_compilations(
    row: int, source: str, shared: bool
) -> None:
    begun = [FrameStarted(compile_id, "act", FILE, row, ()) for compile_id in ("0/0", "0/1")]
    failure = GuardFailure("0/0", source, "ID_MATCH", "", "the same object (a)")
    found = only(MADE, *begun, Recompile("0/1", (failure,)))
    told = [hint for hint in found.hints if "`make` creates share the code of `act`" in hint]
    assert bool(told) == shared


STATIC = """\
import torch

@torch.compile(dynamic=False)
def f(x, k):
    return x * k

@torch.compile
def g(x, k):
    return x * k
"""


@pytest.mark.parametrize(("function", "row", "told"), [("f", 3, True), ("g", 7, False)])
def test_a_number_is_a_constant_where_the_program_forbids_dynamic_ones(
    function: str, row: int, told: bool
) -> None:
    begun = [FrameStarted(compile_id, function, FILE, row, ()) for compile_id in ("0/0", "0/1")]
    failure = GuardFailure("0/0", "L['k']", "EQUALS_MATCH", "", "2", "3")
    (hint,) = only(STATIC, *begun, Recompile("0/1", (failure,))).hints
    assert hint.startswith("With `dynamic=False` (line 3)") == told


LOSS = """\
import torch

def f(x):
    return torch.nn.functional.gaussian_nll_loss(x, x, x)

torch.compile(f, fullgraph=True)(torch.ones(3))
"""
DATA_DEPENDENT = (
    "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).\n\n"
    "Caused by: return loss(x)  # a.py:4 in f (nn/functional.py:3344 in gaussian_nll_loss)\n"
)


def test_a_function_of_torch_that_decides_by_data_is_named() -> None:
    text = DATA_DEPENDENT
    frame = place(LOSS, "torch.nn.functional.gaussian_nll_loss(x, x, x)", "f")
    found = only(
        LOSS, replace(failed("Torch's own advice.", frame, message=text, text=text), error="UserError")
    )
    assert found.explanation.startswith("`gaussian_nll_loss` (nn/functional.py:3344) needs a value")
    assert "`fullgraph=True` (line 6)" in found.hints[1]


def test_modules_of_one_class_share_their_compilations_too() -> None:
    begun = [FrameStarted(compile_id, "act", FILE, 4, ()) for compile_id in ("0/0", "0/1")]
    source = "L['self']._modules['net']._parameters['bias']"
    failure = GuardFailure("0/0", source, "TENSOR_MATCH", "", "2", "3", 0, changed="size")
    found = only(MADE, *begun, Recompile("0/1", (failure,)))
    assert any(hint.startswith("All modules of one class share the code of `act`") for hint in found.hints)


CHECKED = """\
import torch

@torch.compile
def f(x):
    if (x == 0).any():
        raise ValueError("zero")
    if not x.all():
        raise ValueError("zero")
    if x.any():
        x = x + 1
    if x.min() < 0 or x.max() > 1:
        raise ValueError("range")
    return x
"""


@pytest.mark.parametrize(
    ("code", "checked"),
    [
        ("(x == 0).any()", "`torch._assert_async((x == 0).any().logical_not())`"),
        ("not x.all()", "`torch._assert_async(x.all())`"),
        ("x.any()", ""),
        ("x.min() < 0 or x.max() > 1", "`torch._assert_async`:"),
    ],
)
def test_a_branch_that_only_raises_is_checked_in_the_graph(code: str, checked: str) -> None:
    found = only(CHECKED, broken("Data-dependent.", place(CHECKED, code, "f"), code="GB0170"))
    told = [hint for hint in found.hints if "torch._assert_async" in hint]
    assert [hint for hint in told if checked in hint] if checked else not told


def test_what_asks_for_data_in_the_program_is_no_function_of_a_library() -> None:
    text = DATA_DEPENDENT.replace(
        "(nn/functional.py:3344 in gaussian_nll_loss)", "(_dynamo/variables/tensor.py:2606 in evaluate_expr)"
    )
    frame = place(LOSS, "torch.nn.functional.gaussian_nll_loss(x, x, x)", "f")
    found = only(
        LOSS, replace(failed("Torch's own advice.", frame, message=text, text=text), error="UserError")
    )
    assert not [hint for hint in found.hints if "evaluate_expr" in hint]


def test_functions_that_torch_makes_are_not_told_to_share_their_code() -> None:
    inner = f"{TORCH}/_dynamo/external_utils.py"
    files = {inner: SourceFile(inner, MADE), FILE: SourceFile(FILE, "import torch\n")}
    begun = [FrameStarted(compile_id, "act", inner, 4, ()) for compile_id in ("0/0", "0/1")]
    failure = GuardFailure("0/0", "L['op']", "EQUALS_MATCH", "", "2", "3")
    workspace = Workspace(Path("/w"), files.get)
    (found,) = fold("program.py", 1, "2.13.0", (*begun, Recompile("0/1", (failure,))), workspace).findings
    assert not [hint for hint in found.hints if "share the code" in hint]


LOOKED_UP = """\
import torch

@torch.compile(fullgraph=True)
def mixed(x, cache, layer):
    if layer in cache:
        return x + 1
    return x + 2

mixed(torch.ones(2), {1: "a"}, 1)
"""


def looked_up(text: str) -> list[Finding]:
    """A key that another compilation looks for is missing, and the number that is looked for is another."""
    where = place(text, "layer in cache", "mixed")
    lacks = GuardFailure("0/0", "L['cache']", "DICT_CONTAINS", "", "with 1", "without 1", None, (where,))
    call = (StackFrame(FILE, 9, "<module>"),)
    facts = (
        FrameStarted("0/0", "mixed", FILE, 4, call),
        FrameStarted("0/1", "mixed", FILE, 4, call),
        GuardInstalled("0/0", "L['layer']", "EQUALS_MATCH", "1", "L['layer'] == 1", (where,)),
        GuardInstalled("0/1", "L['layer']", "EQUALS_MATCH", "2", "L['layer'] == 2", (where,)),
        Recompile("0/1", (lacks,)),
        ModulesLoaded((FILE,)),
        RecompileLimit("0/2", "mixed", FILE, 4, 2, "recompile_limit", True, (lacks,)),
    )
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    return list(fold("program.py", 1, "2.13.0", facts, workspace).findings)


def test_who_decides_a_lookup_ahead_of_the_call_passes_no_key() -> None:
    (found,) = (item for item in looked_up(LOOKED_UP) if item.kind == "recompile")
    assert found.explanation == "Changed with it: `layer` was 1, is now 2."
    (hint,) = found.hints
    assert "compute `layer in cache` before the call, and pass the result" in hint


def test_an_answer_alone_is_not_enough_where_items_are_used() -> None:
    text = LOOKED_UP.replace("return x + 1", "return x + cache[layer]")
    (found,) = (item for item in looked_up(text) if item.kind == "recompile")
    assert "before the call, and pass the result" not in " ".join(found.hints)


def test_a_limit_names_the_fullgraph_that_makes_an_error_of_it() -> None:
    (found,) = (item for item in looked_up(LOOKED_UP) if item.kind == "recompile-limit")
    assert found.explanation.endswith(
        "`fullgraph=True` (line 3) turns the limit into an error: without it, such calls run eagerly."
    )
    (found,) = (
        item
        for item in looked_up(LOOKED_UP.replace("(fullgraph=True)", ""))
        if item.kind == "recompile-limit"
    )
    assert "fullgraph" not in found.explanation


CROPPED = """\
import torch

@torch.compile(fullgraph=True)
def crop(x, box):
    lo, hi = box
    return x[torch.arange(lo, hi)]
"""
LOST = (
    "PendingUnbackedSymbolNotFound: Pending unbacked symbols {u0, u1} not in returned outputs FakeTensor(..."
)


def lost(text: str) -> Finding:
    where = place(text, "torch.arange(lo, hi)", "crop")
    asks = "Did you accidentally call new_dynamic_size() more times than needed in your fake implementation?"
    failure = CompileFailure(
        "0/0", "capture", "InternalTorchDynamoError", LOST, (where,), explanation=asks, text=LOST
    )
    return only(text, failure)


def test_a_number_that_torch_itself_loses_is_not_asked_of_an_implementation_of_the_program() -> None:
    found = lost(CROPPED)
    assert "fake implementation" not in found.explanation
    assert "internal error of torch" in found.explanation
    assert found.hints[0].startswith("Convert `box` to numbers first: `lo, hi = box.tolist()`.")
    assert found.hints[1].startswith("Or leave `fullgraph=True` (line 3) out: then the graph breaks here")
    assert len(lost(CROPPED.replace("(fullgraph=True)", "")).hints) == 1


def test_where_the_program_defines_operators_torchs_question_stays() -> None:
    found = lost(CROPPED.replace("import torch\n", "import torch, torch.library\n"))
    assert "fake implementation" in found.explanation


SCOPED = """\
import contextlib

class Scoped:
    @contextlib.contextmanager
    def forward(self, x):
        return x

Scoped().forward(1)
"""


@pytest.mark.parametrize("row", [4, 5])
def test_a_context_manager_that_yields_nothing_is_named_with_its_decorator(row: int) -> None:
    broke = replace(
        broken("why", place(SCOPED, "Scoped().forward(1)", "<module>"), code="GB0221"),
        text=f'Developer debug context: <code object forward at 0x7f1a, file "{FILE}", line {row}>',
    )
    found = only(SCOPED, broke)
    assert (
        "`Scoped.forward` (line 5) is decorated with `contextlib.contextmanager` (line 4) but has no `yield`"
        in found.explanation
    )
    (hint,) = found.hints
    assert hint.startswith("Remove the decorator (line 4) if")
    assert "decorated" not in only(SCOPED, replace(broke, code="GB0007")).explanation


AVERAGED = """\
import torch
from torch import nn

class Average:
    def __init__(self, model):
        self.shadow = dict(model.named_parameters())

    def update(self, model):
        for name, p in model.named_parameters():
            if name in self.shadow:
                self.shadow[name].lerp_(p, 0.5)

net = nn.Linear(3, 1)
average = Average(net)
fast = torch.compile(net)
average.update(fast)
nn.Linear(3, 1).load_state_dict(fast.state_dict())
"""
RENAMED = (
    'Error(s) in loading state_dict for Linear:\n\tMissing key(s) in state_dict: "weight". \n\t'
    'Unexpected key(s) in state_dict: "_orig_mod.weight". '
)


def test_lookups_by_names_that_a_compiled_module_has_otherwise_are_told() -> None:
    where = place(AVERAGED, "nn.Linear(3, 1).load_state_dict(fast.state_dict())", "<module>")
    said = "`name in self.shadow` (line 10) false in `average.update(fast)` (line 16) if it looks them up"
    assert said in only(AVERAGED, raised(RENAMED, where)).explanation
    for old, new in (("average.update(fast)", "average.update(net)"), ("torch.compile(net)", "net.eval()")):
        text = AVERAGED.replace(old, new)
        where = place(text, "nn.Linear(3, 1).load_state_dict(fast.state_dict())", "<module>")
        assert "self.shadow" not in only(text, raised(RENAMED, where)).explanation
