"""Errors that torch's developers have an answer to are told with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fullgraph_compiler.facts import CompileFailure, Fact, ProgramRaised, StackFrame
from fullgraph_server.report.fold import fold
from fullgraph_server.report.model import Finding
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
TORCH = "/w/.venv/lib/python3.11/site-packages/torch"
SECOND = "Trying to backward through the graph a second time (or directly access saved tensors ...)"


def only(fact: Fact) -> Finding:
    (finding,) = fold("program.py", 1, "2.13.0", (fact,), Workspace(Path("/w"))).findings
    return finding


def raised(message: str, file: str) -> ProgramRaised:
    stack = StackFrame(FILE, 3, "<module>"), StackFrame(f"{TORCH}/{file}", 1, "f")
    return ProgramRaised("RuntimeError", message, stack, "")


@pytest.mark.parametrize(
    ("message", "file", "words"),
    [
        (
            "torch.compile with aot_autograd does not currently support double backward",
            "_functorch/_aot_autograd/runtime_wrappers.py",
            'backend="eager"',
        ),
        (SECOND, "_functorch/_aot_autograd/subclass_codegen.py", "on the sum of the losses"),
        ("compile_wrapper already has a get_compiler_config attribute", "_dynamo/eval_frame.py", "wrapper"),
        ("Net does not support len()", "_dynamo/eval_frame.py", "is not None"),
        ("'function' object has no attribute '__func__'", "optim/lr_scheduler.py", "before"),
        (
            "backend='compile_fn' raised:\nAttributeError: 'float' object has no attribute 'meta'",
            "_dynamo/backends/distributed.py",
            "optimize_ddp = False",
        ),
    ],
)
def test_a_known_error_has_its_answer(message: str, file: str, words: str) -> None:
    finding = only(raised(message, file))
    assert finding.explanation
    assert words in finding.hints[0]


def test_a_missing_compiler_is_told_with_what_to_set() -> None:
    message = "No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')"
    failure = CompileFailure("0/0", "backend", "InductorError", f"InvalidCxxCompiler: {message}", ())
    assert "`CXX`" in only(failure).hints[0]


def test_an_unknown_option_is_told_without_all_that_there_are() -> None:
    message = "Unexpected optimization option max_auto_tune, known options are ['dce', 'max_autotune']"
    finding = only(raised(message, "__init__.py"))
    assert "dce" not in finding.message
    assert finding.hints[0].startswith("Did you mean `max_autotune`? ")
    other = only(raised(message.replace("max_auto_tune", "zzz"), "__init__.py"))
    assert other.hints[0].startswith("`torch._inductor.list_options()`")


def test_an_unknown_backend_is_told_with_the_one_that_is_meant() -> None:
    message = "Invalid backend: 'indcutor', see `torch._dynamo.list_backends()` for available backends."
    assert "Did you mean `inductor`?" in only(raised(message, "_dynamo/backends/registry.py")).hints[0]


def test_a_compiled_module_in_a_file_is_told() -> None:
    message = (
        "Weights only load failed. This file can still be loaded, to do so you have two options.\n"
        "\tWeightsUnpickler error: Unsupported global: GLOBAL torch._dynamo.eval_frame.OptimizedModule"
    )
    assert "state_dict()" in only(raised(message, "serialization.py")).hints[0]


def test_the_same_words_from_elsewhere_have_none() -> None:
    assert only(raised(SECOND, "autograd/graph.py")).hints == ()


def test_what_is_forbidden_in_compiled_code_is_no_bug_of_torch() -> None:
    message = "Attempt to trace forbidden callable <function mark_dynamic at 0x1>"
    stack = (StackFrame(FILE, 3, "f"),)
    explanation = "This is a bug in torch, not in the program."
    failure = CompileFailure(
        "0/0", "capture", "AssertionError", message, stack, "", explanation, ("Report it",)
    )
    finding = only(failure)
    assert "bug" not in finding.explanation
    assert finding.hints == ("Call it before the compiled call, on the arguments.",)
