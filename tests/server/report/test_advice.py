"""Advice is right, or there is none: the compilations of a function decide, and the code that calls it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import (
    Fact,
    FrameStarted,
    GraphBreak,
    GuardFailure,
    GuardInstalled,
    Recompile,
    Specialization,
    StackFrame,
)
from fullgraph_server.report.fold import fold
from fullgraph_server.text.hints import break_hints
from fullgraph_server.text.size_expressions import held
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

FILE = "/w/program.py"
LIBRARY = "/w/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py"
TEXT = """\
import torch


@torch.compile
def f(x, *args, y=None):
    return x + args[0] + y


f(torch.ones(4), torch.ones(4))
"""
CALL = StackFrame(FILE, 9, "<module>")
DYNAMIC = "Compile with `dynamic=True`, to keep one graph for every size. (Not tried.)"
REPORT = "Please report an issue to PyTorch."


def hints(*facts: Fact, text: str = TEXT) -> tuple[str, ...]:
    workspace = Workspace(Path("/w"), {FILE: SourceFile(FILE, text)}.get)
    (finding,) = fold("program.py", 1, "2.13.0", facts, workspace).findings
    return finding.hints


def tensor(compile_id: str, source: str, shape: str, *, kind: str = "TENSOR_MATCH") -> GuardInstalled:
    expected = f"torch.float32, shape [{shape}], device cpu, requires_grad=False, stride [1]"
    return GuardInstalled(compile_id, source, kind, expected, "", ())


def relation(compile_id: str, code: str) -> GuardInstalled:
    return GuardInstalled(compile_id, "", "LAMBDA_GUARD", "", code, ())


def resized(source: str, *facts: Fact, old: int = 4, new: int = 6, at: str = FILE) -> tuple[Fact, ...]:
    """A tensor that was compiled for one size, then for every size."""
    failure = GuardFailure("0/0", source, "TENSOR_MATCH", "size", str(old), str(new), 0, (), "size")
    begun = [FrameStarted(compile_id, "f", at, 4, (CALL,)) for compile_id in ("0/0", "0/1")]
    guards = tensor("0/0", source, str(old)), tensor("0/1", source, "dynamic")
    return (*begun, *guards, *facts, Recompile("0/1", (failure,)))


@pytest.mark.parametrize("name", ["x", "y"])
def test_a_parameter_can_be_marked_at_the_call(name: str) -> None:
    assert f"torch._dynamo.mark_dynamic({name}, 0)" in hints(*resized(f"L['{name}']"))[0]


@pytest.mark.parametrize(
    "source",
    [
        "L['args'][0]",
        "L['z']",
        "L['x']._store._mapping['x']",
        "L['x'].__closure__[0].cell_contents",
        "L['x'](1)",
    ],
)
def test_what_the_call_has_no_name_for_is_not_marked(source: str) -> None:
    assert hints(*resized(source)) == (DYNAMIC,)


def test_a_function_called_by_a_compiled_one_is_not_advised_to_mark() -> None:
    inner = StackFrame(FILE, 6, "f")
    around = FrameStarted("1/0", "f", FILE, 4, (CALL,))
    facts = [fact for fact in resized("L['x']") if not isinstance(fact, FrameStarted)]
    begun = [FrameStarted(compile_id, "g", FILE, 4, (CALL, inner)) for compile_id in ("0/0", "0/1")]
    assert hints(around, *begun, *facts) == (DYNAMIC,)


def test_a_value_within_a_library_is_not_marked() -> None:
    assert hints(*resized("L['x']", at=LIBRARY)) == (DYNAMIC,)


def test_tensors_that_share_a_size_are_marked_together() -> None:
    shared = tensor("0/0", "L['y']", "4"), tensor("0/1", "L['y']", "dynamic")
    marks = "`torch._dynamo.mark_dynamic(x, 0)` and `torch._dynamo.mark_dynamic(y, 0)`"
    assert marks in hints(*resized("L['x']", *shared))[0]


def test_a_size_equal_to_a_fixed_one_is_marked_only() -> None:
    fixed = tensor("0/0", "L['y']", "4"), tensor("0/1", "L['y']", "4")
    (told,) = hints(*resized("L['x']", *fixed))
    assert "mark_dynamic(x, 0)" in told
    assert "dynamic=True" not in told  # which takes sizes that are equal in the first call for one


def test_a_condition_of_the_next_graph_that_did_not_hold_before_makes_two_graphs() -> None:
    (told,) = hints(*resized("L['x']", relation("0/1", "5 <= L['x'].size()[0]")))
    assert told.startswith("The compiled code tests this size")
    (told,) = hints(*resized("L['x']", relation("0/1", "2 <= L['x'].size()[0]")))
    assert "mark_dynamic(x, 0)" in told


def test_graphs_for_different_answers_are_several_though_the_last_would_have_served() -> None:
    versions = relation("0/1", "(L['x'].size()[0] % 4) != 0"), relation("0/2", "(L['x'].size()[0] % 4) == 0")
    last = FrameStarted("0/2", "f", FILE, 4, (CALL,)), tensor("0/2", "L['x']", "dynamic")
    begun, seen = resized("L['x']")[:2], resized("L['x']")[2:]
    assert "tests this size" in hints(*begun, *last, *versions, *seen)[0]
    by_chance = relation("0/1", "L['x'].size()[0] == 6  # duck sizing added this equality because")
    of_another = relation("0/1", "2 <= L['x'].stride()[0]")
    assert "mark_dynamic(x, 0)" in hints(*begun, *last, by_chance, of_another, *seen)[0]


def test_a_size_that_is_marked_as_static_stays_so() -> None:
    code = "((getattr(L['x'], '_dynamo_static_indices', set()).issubset({0})) if hasattr(...) else True)"
    mark = GuardInstalled("0/0", "L['x']", "DIMENSION_DYNAMIC_MARKING_GUARD", "", code, ())
    assert "marks this size as static" in hints(mark, *resized("L['x']"))[0]


def test_sizes_are_constants_where_the_program_says_so() -> None:
    text = TEXT.replace("@torch.compile", "@torch.compile(dynamic=False)")
    told = hints(*resized("L['x']"), text=text)
    assert told[0].startswith("With `dynamic=False` (line 4), each size of `x` has its own graph")


def test_what_a_library_compiles_for_itself_is_no_option_of_the_program() -> None:
    text = "import torch\nmade = torch.compile(create, dynamic=False)\n\n\n\n\n\n\nmade(1)\n"
    own = "@torch.compile\ndef create(x):\n    return x\n\nfast = torch.compile(create)\n"
    files = {FILE: SourceFile(FILE, text), LIBRARY: SourceFile(LIBRARY, own)}
    workspace = Workspace(Path("/w"), files.get)
    number = [
        GuardInstalled(each, "L['x']", "EQUALS_MATCH", value, "", ())
        for each, value in (("0/0", "4"), ("0/1", "6"))
    ]
    begun = [FrameStarted(each, "create", LIBRARY, 2, (CALL,)) for each in ("0/0", "0/1")]
    failure = GuardFailure("0/0", "L['x']", "EQUALS_MATCH", "L['x'] == 4", "4", "6")
    facts = (*begun, *number, Recompile("0/1", (failure,)))
    (finding,) = fold("program.py", 1, "2.13.0", facts, workspace).findings
    assert finding.hints[0].startswith("With `dynamic=False` (")


@pytest.mark.parametrize(("beside", "of_module"), [("._modules['lin']", True), (".other", False)])
def test_the_numbers_of_modules_are_told_apart_from_those_of_other_objects(
    beside: str, of_module: bool
) -> None:
    source = "L['x'].step"
    failure = GuardFailure("0/0", source, "EQUALS_MATCH", "2", "2", "3")
    guards = [GuardInstalled(key, source, "EQUALS_MATCH", key[-1], "", ()) for key in ("0/0", "0/1")]
    part = GuardInstalled("0/0", f"L['x']{beside}", "TYPE_MATCH", "type Linear", "", ())
    told = hints(*guards, part, Recompile("0/1", (failure,)))
    assert ("integer attributes of modules" in told[0]) == of_module


def test_dynamic_is_not_advised_where_it_is_set() -> None:
    (told,) = hints(*resized("L['x']", tensor("0/0", "L['y']", "dynamic")))
    assert "dynamic=True" not in told
    assert hints(*resized("L['args'][0]", tensor("0/0", "L['y']", "dynamic"))) == ()


def test_a_smaller_batch_may_be_the_last_one_that_is_loaded() -> None:
    loading = TEXT + "# DataLoader(data)\n"
    assert "drop_last=True" in hints(*resized("L['x']", old=8, new=5), text=loading)[-1]
    assert len(hints(*resized("L['x']", old=5, new=8), text=loading)) == 1
    assert len(hints(*resized("L['x']", old=8, new=5))) == 1


def test_a_cache_that_grows_is_made_static() -> None:
    layer, cache = "L['x'].layers[0].keys", "type transformers.cache_utils.DynamicCache"
    of_cache = GuardInstalled("0/0", "L['x']", "TYPE_MATCH", cache, "", ())
    assert 'cache_implementation="static"' in hints(*resized(layer, of_cache))[0]


@pytest.mark.parametrize(
    ("lengths", "grows"),
    [
        ((0, 1, 2, 3, 4), True),
        ((2, 3, 4, 5), True),
        ((0, 1), False),
        ((1, 3, 4, 9), False),
        ((4, 3, 2, 1), False),
    ],
)
def test_a_list_that_grows_with_each_call_is_not_compiled_ahead(lengths: Sequence[int], grows: bool) -> None:
    facts: list[Fact] = []
    for number, length in enumerate(lengths):
        expected = f"length {length}" if length else ""
        facts.append(GuardInstalled(f"0/{number}", "G['history']", "LENGTH_CHECK", expected, "", ()))
    for number, (old, new) in enumerate(itertools.pairwise(lengths)):
        of = (f"0/{number}", "G['history']", "LENGTH_CHECK", "len")
        failure = GuardFailure(*of, str(old), str(new), changed="length")
        facts.append(Recompile(f"0/{number + 1}", (failure,)))
    (hint,) = hints(*facts)
    assert ("keep it out of the compiled code" in hint) == grows
    assert ("Each length has its own graph" in hint) != grows


def test_lengths_of_a_log_that_are_no_numbers_tell_nothing() -> None:
    odd = ("length", "length many", f"length {'9' * 5000}", "12")
    guards = [GuardInstalled("0/0", "G['history']", "LENGTH_CHECK", expected, "", ()) for expected in odd]
    failure = GuardFailure("0/0", "G['history']", "LENGTH_CHECK", "len", "1", "2", changed="length")
    assert "Each length has its own graph" in hints(*guards, Recompile("0/1", (failure,)))[0]


def test_a_number_that_the_next_graph_needs_is_not_made_dynamic() -> None:
    failure = GuardFailure("0/0", "L['y']", "EQUALS_MATCH", "y == 2", "2")
    facts = (
        GuardInstalled("0/0", "L['y']", "EQUALS_MATCH", "2", "", ()),
        GuardInstalled("0/1", "L['y']", "TYPE_MATCH", "type int", "", ()),
        Recompile("0/1", (failure,)),
    )
    assert "dynamic=True" in hints(*facts)[0]
    assert "needs the concrete value of `y`" in hints(relation("0/1", "L['y'] == 3"), *facts)[0]


def test_gradients_in_training_and_none_in_evaluation_are_as_they_should_be() -> None:
    failure = GuardFailure("0/0", "", "GLOBAL_STATE", "grad_mode", changed="grad_mode")
    (told,) = hints(FrameStarted("0/0", "f", FILE, 4, (CALL,)), Recompile("0/1", (failure,)))
    assert "This is expected" in told


@pytest.mark.parametrize(
    ("changed", "expected", "actual", "advised"),
    [
        ("dtype", "torch.float32", "torch.bfloat16", True),
        ("dtype", "torch.float32", "torch.int64", True),
        ("dtype", "torch.int64", "torch.float32", False),  # what is behind the point would be lost
        ("dtype", "torch.int64", "torch.bool", False),  # a mask is no list of places
        ("device", "cpu", "cuda", True),
        ("device", "cpu", "meta", False),
    ],
)
def test_what_is_converted_stays_what_it_is(changed: str, expected: str, actual: str, advised: bool) -> None:
    failure = GuardFailure("0/0", "L['x']", "TENSOR_MATCH", changed, expected, actual, changed=changed)
    told = hints(FrameStarted("0/0", "f", FILE, 4, (CALL,)), Recompile("0/1", (failure,)))
    assert bool(told) == advised


def test_an_array_of_numpy_has_no_methods_of_tensors() -> None:
    source, values = "___from_numpy(L['x'])", ("torch.float64", "torch.float32")
    failure = GuardFailure("0/0", source, "TENSOR_MATCH", "dtype", *values, changed="dtype")
    assert hints(FrameStarted("0/0", "f", FILE, 4, (CALL,)), Recompile("0/1", (failure,))) == ()


def test_the_caller_of_a_block_is_the_model_around_it() -> None:
    block, module = StackFrame(LIBRARY, 253, "forward"), StackFrame(LIBRARY, 1789, "_call_impl")
    facts = [fact for fact in resized("L['x']") if not isinstance(fact, FrameStarted)]

    def called(*stack: StackFrame) -> tuple[str, ...]:
        begun = [FrameStarted(compile_id, "f", FILE, 4, stack) for compile_id in ("0/0", "0/1")]
        return hints(*begun, *facts)

    assert called(CALL, block, module) == (DYNAMIC,)
    assert "mark_dynamic" in called(CALL, module)[0]


def test_an_item_of_what_may_be_none_is_not_marked() -> None:
    absent = GuardInstalled("0/2", "L['x']", "NONE_MATCH", "is None", "", ())
    assert "mark_dynamic" in hints(*resized("L['x'][0]"))[0]
    assert hints(*resized("L['x'][0]", absent)) == (DYNAMIC,)


def test_a_recompilation_that_ended_the_program_has_no_advice() -> None:
    facts = [fact for fact in resized("L['x']") if getattr(fact, "compile_id", "") != "0/1"]
    assert hints(*facts, resized("L['x']")[-1]) == ()


def test_a_size_that_a_library_makes_a_number_of_is_left_alone() -> None:
    def specialized(*stack: StackFrame) -> Specialization:
        return Specialization("0/1", "s0", ("L['x'].size()[0]",), "6", "reason", stack)

    own, library = StackFrame(FILE, 6, "f"), StackFrame(LIBRARY, 134, "forward")
    assert "as a Python number" in hints(*resized("L['x']"), specialized(own))[0]
    assert hints(*resized("L['x']"), specialized(own, library)) == ()


def test_a_recurrent_layer_that_is_unrolled_has_its_own_advice() -> None:
    layers = "/w/.venv/lib/python3.11/site-packages/torch/nn/modules/rnn.py"
    loop = StackFrame("/w/.venv/lib/python3.11/site-packages/torch/_decomp/decompositions.py", 3898, "layer")
    stack = (StackFrame(FILE, 6, "f"), StackFrame(layers, 1440, "forward"))
    unrolled = Specialization("0/1", "s0", ("L['x'].size()[0]",), "6", "reason", stack, (loop,))
    text = f"{TEXT}\ntorch._dynamo.config.allow_rnn = True\n"
    (hint,) = hints(*resized("L['x']"), unrolled, text=text)
    assert hint.startswith("Torch unrolls `nn.RNNBase` over the steps of a sequence")
    assert "leave `allow_rnn` (line 11) off" in hint
    assert hints(*resized("L['x']"), replace(unrolled, torch_stack=())) == ()


def test_a_report_is_not_advised_where_something_else_helps() -> None:
    assert break_hints(("Avoid `print`.", REPORT), in_library=False) == ("Avoid `print`.",)
    assert break_hints((REPORT,), in_library=False) == (REPORT,)


def test_nobody_is_advised_to_change_a_library() -> None:
    setting = "Set `torch._dynamo.config.capture_scalar_outputs = True`."
    told = ("Remove the `torch._dynamo.graph_break()` call.", "Avoid calling `Adam.step`.", setting)
    url, stack = "", (StackFrame(FILE, 6, "f"), StackFrame(LIBRARY, 79, "_use_grad"))
    broke = GraphBreak("0/0", "GB0025", "break", "why", told, "", url, stack, False, "all")
    begun = FrameStarted("0/0", "f", FILE, 4, (CALL,))
    assert hints(begun, broke) == (setting,)
    own = GraphBreak("0/0", "GB0025", "break", "why", told, "", url, stack[:1], False, "all")
    assert hints(begun, own) == (told[0], setting)


@pytest.mark.parametrize(
    ("condition", "is_held"),
    [
        ("L['x'].size()[0] == L['y']", True),
        ("(L['y'] % 3) == 0", False),
        ("2 <= L['y'] <= 9 // 2", True),
        ("-L['y'] < L['y'] * 2 - 1", True),
        ("4 % (L['y'] - 4) == 0", None),
        ("L['z'] == 4", None),
        ("not math.isnan(L['y'])", None),
    ],
)
def test_a_condition_on_known_sizes_held_or_did_not(condition: str, is_held: bool | None) -> None:
    assert held(condition, {"L['x'].size()[0]": 4, "L['y']": 4}) is is_held


def test_a_graph_for_whole_numbers_serves_no_float() -> None:
    failure = GuardFailure("0/0", "L['y']", "EQUALS_MATCH", "y == 1.0", "1.0", "2.0")
    facts = (
        GuardInstalled("0/0", "L['y']", "EQUALS_MATCH", "1.0", "", ()),
        GuardInstalled("0/1", "L['y']", "EQUALS_MATCH", "2.0", "", ()),
        GuardInstalled("0/2", "L['y']", "TYPE_MATCH", "type int", "", ()),
        Recompile("0/1", (failure,)),
    )
    assert "dynamic=True" not in hints(*facts)[0]


def test_a_default_is_passed_as_an_argument() -> None:
    failure = GuardFailure("0/0", "L['f'].__defaults__[0]", "EQUALS_MATCH", "2", "2", "3")
    guard = GuardInstalled("0/0", "L['f'].__defaults__[0]", "EQUALS_MATCH", "2", "", ())
    assert "pass the value as an argument" in hints(guard, Recompile("0/1", (failure,)))[0]


def test_a_list_with_something_else_than_tensors_is_not_stacked() -> None:
    tensor = "torch.float32, shape [4], device cpu, requires_grad=False, stride [1]"
    items = [GuardInstalled("0/0", f"L['xs'][{i}]", "TENSOR_MATCH", tensor, "", ()) for i in range(2)]
    failures = [
        GuardFailure("0/0", "L['xs']", "LENGTH_CHECK", "len", length, "4", changed="length")
        for length in ("2", "3")
    ]
    stacked = ["torch.stack" in hints(*items, Recompile("0/1", (failure,)))[0] for failure in failures]
    assert stacked == [True, False]


def test_what_only_torch_can_name_is_not_advised_on() -> None:
    source = "G['__import_torch_dot_optim_dot_sgd'].flag"
    failure = GuardFailure("0/0", source, "EQUALS_MATCH", "2", "2", "3")
    guard = GuardInstalled("0/0", source, "EQUALS_MATCH", "2", "", ())
    assert hints(guard, Recompile("0/1", (failure,))) == ()


def test_a_training_step_is_not_to_be_avoided() -> None:
    avoided = "Avoid calling the function `Adam.step`.", "Avoid calling `SGD.step`."
    other = "Apply `@torch._dynamo.dont_skip_tracing`."
    assert break_hints((*avoided, other), in_library=False) == (other,)


def test_a_momentum_that_is_cycled_is_not_a_number_to_be_dynamic() -> None:
    source = "L['self'].param_groups[0]['betas'][0]"
    failure = GuardFailure("0/0", source, "EQUALS_MATCH", "0.95", "0.95", "0.94")
    guard = GuardInstalled("0/0", source, "EQUALS_MATCH", "0.95", "", ())
    assert "cycle_momentum=False" in hints(guard, Recompile("0/1", (failure,)))[0]


def test_without_gradients_a_tensor_is_detached() -> None:
    on = "torch.float32, shape [4], device cpu, requires_grad={}, stride [1]"
    facts = [
        fact
        for number, flag in enumerate(("False", "True"))
        for fact in (
            GuardInstalled(f"0/{number}", "L['x']", "TENSOR_MATCH", on.format(flag), "", ()),
            GuardInstalled(f"0/{number}", "", "GLOBAL_STATE", "grad mode off, autocast off", "", ()),
        )
    ]
    failure = GuardFailure(
        "0/0", "L['x']", "TENSOR_MATCH", "", "False", "True", stack=(CALL,), changed="requires_grad"
    )
    (hint,) = hints(*facts, Recompile("0/1", (failure,)))
    assert "`x.detach()`" in hint
    (hint,) = hints(*facts[::2], Recompile("0/1", (failure,)))
    assert "two graphs" in hint


def test_a_number_that_is_an_index_is_not_made_dynamic() -> None:
    text = TEXT.replace("return x + args[0] + y", "return x[y.index]")
    source = "L['y'].index"
    here = (StackFrame(FILE, 6, "f"),)
    guards = [GuardInstalled(f"0/{n}", source, "EQUALS_MATCH", str(n), "", here) for n in range(2)]
    guards.append(GuardInstalled("0/0", "L['y'].__dict__['_buffers']", "DICT_CONTAINS", "", "", ()))
    failure = GuardFailure("0/0", source, "EQUALS_MATCH", "0", "0", "1", stack=here)
    indexed, computed = (
        hints(*guards, Recompile("0/1", (failure,)), text=each)[0]
        for each in (text, text.replace("x[y.index]", "x + y.index"))
    )
    assert "allow_unspec_int_on_nn_module" not in indexed
    assert "allow_unspec_int_on_nn_module" in computed


def test_gradients_of_a_tensor_that_the_call_has_no_name_for_are_explained() -> None:
    failure = GuardFailure("0/0", "L['z']", "TENSOR_MATCH", "", "False", "True", changed="requires_grad")
    begun = [FrameStarted(compile_id, "f", FILE, 4, (CALL,)) for compile_id in ("0/0", "0/1")]
    (hint,) = hints(*begun, Recompile("0/1", (failure,)))
    assert hint.startswith("Calls with and without gradients need two graphs")


def test_a_list_of_numbers_that_is_an_index_is_to_be_a_tensor() -> None:
    text = TEXT.replace("return x + args[0] + y", "return x[y]")
    frame = StackFrame(FILE, 6, "f")
    begun = [FrameStarted(compile_id, "f", FILE, 4, (CALL,)) for compile_id in ("0/0", "0/1")]
    failure = GuardFailure("0/0", "L['y'][0]", "EQUALS_MATCH", "", "4", "2", stack=(CALL, frame))
    (hint,) = hints(*begun, Recompile("0/1", (failure,)), text=text)
    assert hint.startswith("A list of numbers that is used as an index")
    assert "`torch.tensor(y)`" in hint
    assert not hints(*begun, Recompile("0/1", (failure,)))[0].startswith("As an index")


def test_a_class_that_is_made_in_each_call_is_to_be_defined_once() -> None:
    begun = [FrameStarted(compile_id, "f", FILE, 4, (CALL,)) for compile_id in ("0/0", "0/1")]
    made = "type window.<locals>.Mask"
    failure = GuardFailure("0/0", "L['x']", "TYPE_MATCH", "", made, made)
    (hint,) = hints(*begun, Recompile("0/1", (failure,)))
    assert hint.startswith("Each call of `window` makes a new class `Mask`: define the class once")
