"""The text of a repro: readable Python, which computes what the case says and checks itself."""

from __future__ import annotations

import contextlib
import io
import math
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from fullgraph_compiler.cases import repro, self_check
from fullgraph_compiler.cases.case import (
    CaseGraph,
    CaseInput,
    CaseOperation,
    ConstantCode,
    ExactValues,
    FailureCase,
    IntegerValues,
    NormalValues,
    ResultRef,
    TensorSpec,
)
from fullgraph_compiler.cases.places import calls_at
from fullgraph_compiler.cases.reading import UnreadableError, read_input
from fullgraph_compiler.facts import Failure, FaultLocated, StackFrame
from fullgraph_compiler.replay import program
from fullgraph_compiler.replay.record import RecordedCall
from in_child import in_child


def tensor(
    name: str,
    *shape: int,
    stride: tuple[int, ...] | None = None,
    dtype: str = "float32",
    grad: bool = False,
    value: NormalValues | IntegerValues | ExactValues | None = None,
) -> CaseInput:
    stride = torch.empty(shape).stride() if stride is None else stride
    return CaseInput(name, TensorSpec(shape, stride, dtype, "cpu", grad), value or NormalValues())


def operation(name: str, target: str, *args: Any, calls: Any = (), **kwargs: Any) -> CaseOperation:
    kind = "call_function" if "." in target else "call_method"
    return CaseOperation(name, kind, target, args, tuple(kwargs.items()), calls=calls)


def case_of(
    inputs: list[CaseInput], operations: list[CaseOperation], outputs: list[Any], **options: Any
) -> FailureCase:
    graph = CaseGraph(tuple(item.name for item in inputs), tuple(operations), tuple(outputs))
    return FailureCase(
        **{"level": "dynamo", "backend": "eager", "graph": graph, "inputs": tuple(inputs), **options}
    )


def defined(case: FailureCase) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "repro"}
    exec(compile(repro.program(case), "<repro>", "exec"), namespace)
    return namespace


def lines(case: FailureCase) -> list[str]:
    """What stands in ``forward``."""
    body = repro.program(case).partition("def forward(")[2].partition("\n\n\n")[0]
    return [line.strip() for line in body.splitlines()[1:]]


X = ResultRef("x")


# -- operations --------------------------------------------------------------------------------


def test_operations_are_written_as_a_person_would() -> None:
    operations = [
        operation("a", "operator.add", X, 1),
        operation("b", "operator.pow", -2, ResultRef("a")),
        operation("c", "operator.getitem", ResultRef("b"), (0, slice(None, 2), ..., None)),
        operation("d", "view", ResultRef("c"), 1, -1),
        operation(
            "e", "torch.nn.functional.softmax", ResultRef("d"), dim=-1, dtype=ConstantCode("torch.float64")
        ),
        operation("unused", "operator.setitem", X, (0,), 3.0),
        operation("f", "torch.cat", [ResultRef("e"), ResultRef("e")], 1),
        operation("g", "operator.neg", ResultRef("f")),
        operation("h", "random_", ResultRef("g"), **{"from": 1, "to": 2}),
    ]
    assert lines(case_of([tensor("x", 3, 4)], operations, [ResultRef("h"), None, 3, X])) == [
        "a = x + 1",
        "b = (-2) ** a",
        "c = b[0, :2, ..., None]",
        "d = c.view(1, -1)",
        "e = torch.nn.functional.softmax(d, dim=-1, dtype=torch.float64)",
        "x[0,] = 3.0",
        "f = torch.cat([e, e], 1)",
        "g = -f",
        "h = g.random_(to=2, **{'from': 1})",
        "return [h, None, 3, x]",
    ]


@pytest.mark.parametrize(
    "value",
    [math.inf, -math.inf, -0.0, True, 3, 2**70, "it's", ..., None, complex(1, -0.0), complex(math.inf, 2)],
)
def test_constants_keep_their_value(value: Any) -> None:
    module = defined(case_of([tensor("x", 1)], [], [X, (value, [value], {"k": value}), slice(value, None)]))
    assert repr(module["Repro"]()(0)[1:]) == repr([(value, [value], {"k": value}), slice(value, None)])


def test_not_a_number_stays_none() -> None:
    assert math.isnan(defined(case_of([tensor("x", 1)], [], [math.nan]))["Repro"]()(0)[0])


def test_names_that_python_has_already_are_changed() -> None:
    inputs = [tensor("sum", 2), tensor("class", 2), tensor("self", 2), tensor("3.x", 2), tensor("mine", 2)]
    operations = [
        operation("torch", "torch.add", ResultRef("sum"), ResultRef("class")),
        operation("f", "mine.twice", ResultRef("torch")),
        operation(
            "sum_", "builtins.sum", [ResultRef("f"), ResultRef("self"), ResultRef("3.x"), ResultRef("mine")]
        ),
    ]
    preamble = ("class mine:\n    twice = staticmethod(lambda value: value * 2)",)
    module = defined(case_of(inputs, operations, [ResultRef("sum_")], preamble=preamble))
    assert module["Repro"]()(1, 2, 3, 4, 5) == [18]


def test_a_line_of_the_user_stands_above_its_operations(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text("def f(x):\n    return x.sin().cos()\n")
    inner = StackFrame(str(Path(torch.__file__).parent / "nn" / "modules" / "module.py"), 9, "forward")
    calls = (StackFrame(str(source), 2, "f"), inner)
    operations = [
        operation("sin", "sin", X, calls=calls),
        operation("cos", "cos", ResultRef("sin"), calls=calls),
        operation("tan", "tan", ResultRef("cos"), calls=(StackFrame("gone.py", 7, "g"),)),
    ]
    assert lines(case_of([tensor("x", 2)], operations, [ResultRef("tan")])) == [
        "# model.py:2 in f: return x.sin().cos()",
        "sin = x.sin()",
        "cos = sin.cos()",
        "# gone.py:7 in g",
        "tan = cos.tan()",
        "return [tan]",
    ]


def test_graphs_within_are_modules() -> None:
    def branch(target: str) -> CaseGraph:
        return CaseGraph(("x",), (operation("y", target, X),), (ResultRef("y"),))

    names = ("cond_true_0", "cond_false_0")
    operations = [CaseOperation(name, "get_attr", name, ()) for name in names]
    operations += [
        operation("cond", "torch.ops.higher_order.cond", ResultRef("p"), *map(ResultRef, names), (X,)),
        operation("item", "operator.getitem", ResultRef("cond"), 0),
    ]
    case = case_of(
        [tensor("p", dtype="bool", value=ExactValues(b"\0")), tensor("x", 3)], operations, [ResultRef("item")]
    )
    subgraphs = (("cond_true_0", branch("torch.sin")), ("cond_false_0", branch("torch.cos")))
    graph = CaseGraph(case.graph.parameters, case.graph.operations, case.graph.outputs, subgraphs)
    module = defined(FailureCase("dynamo", "eager", graph, case.inputs))
    p, x = module["inputs"]()
    assert torch.equal(module["Repro"]()(p, x)[0], x.cos())


def test_a_graph_within_may_return_its_output_bare() -> None:
    less = CaseGraph(("i",), (operation("lt", "torch.lt", ResultRef("i"), 3),), (ResultRef("lt"),), bare=True)
    more = CaseGraph(("i",), (operation("add", "torch.add", ResultRef("i"), 1),), (ResultRef("add"),))
    operations = [CaseOperation(name, "get_attr", name, ()) for name in ("cond_fn", "body_fn")]
    loop = "torch.ops.higher_order.while_loop"
    operations.append(operation("loop", loop, ResultRef("cond_fn"), ResultRef("body_fn"), (X,), ()))
    operations.append(operation("item", "operator.getitem", ResultRef("loop"), 0))
    graph = CaseGraph(("x",), tuple(operations), (ResultRef("item"),), (("cond_fn", less), ("body_fn", more)))
    module = defined(
        FailureCase("dynamo", "eager", graph, (tensor("x", dtype="int64", value=IntegerValues(0, 0)),))
    )
    assert module["Repro"]()(*module["inputs"]())[0].item() == 3


@pytest.mark.parametrize("single", [False, True])
def test_an_autograd_function_is_written_as_one(single: bool) -> None:
    outputs: Any = ResultRef("mul") if single else (ResultRef("mul"), ResultRef("cos"))
    forward = CaseGraph(
        ("x",),
        (operation("mul", "torch.mul", X, 2), operation("cos", "torch.cos", X)),
        (outputs, (ResultRef("cos"), X)),
    )
    place = (StackFrame("train.py", 3, "backward"),)
    gradients = ("g", "c", "x") if single else ("g", "h", "c", "x")
    product = operation("product", "torch.mul", ResultRef("g"), ResultRef("c"), calls=place)
    sum_of = operation("whole", "torch.add", ResultRef("product"), X)
    backward = CaseGraph(gradients, (product, sum_of), (ResultRef("whole"),), bare=True)
    held = [CaseOperation(name, "get_attr", name, ()) for name in ("fwd_body_0", "bwd_body_0")]
    options: dict[str, Any] = {"non_differentiable_idx": [] if single else [1], "saved_for_backward_idx": [1]}
    applied = operation(
        "y",
        "torch.ops.higher_order.autograd_function_apply",
        *(ResultRef(item.name) for item in held),
        X,
        **options,
    )
    last = [] if single else [operation("z", "operator.getitem", ResultRef("y"), 0)]
    graph = CaseGraph(
        ("x",),
        (*held, applied, *last),
        (ResultRef("y" if single else "z"),),
        (("fwd_body_0", forward), ("bwd_body_0", backward)),
    )
    case = FailureCase("dynamo", "eager", graph, (tensor("x", 2, grad=True),))
    namespace = defined(case)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (result,) = namespace["Repro"]()(x)
    result.backward(torch.tensor([1.0, 10.0]))
    assert torch.equal(result, x * 2)
    assert torch.allclose(x.grad, torch.tensor([1.0, 10.0]) * x.detach().cos() + x.detach())
    rows = repro.program(case).splitlines()
    row = next(number for number, line in enumerate(rows, 1) if line.strip().startswith("product ="))
    assert calls_at(case, repro.program(case), row) == place


def test_functions_of_flex_attention_hold_their_tensors() -> None:
    score, mask = (
        CaseGraph(
            (*names, "held"),
            (operation("sum", "torch.add", ResultRef(names[0]), ResultRef("held")),),
            (ResultRef("sum"),),
        )
        for names in (("score", "b", "h", "i", "j"), ("b", "h", "i", "j"))
    )
    held = [CaseOperation(name, "get_attr", name, ()) for name in ("score_0", "mask_0")]
    blocks = (128, 128, None, ResultRef("mask_0"))
    kernels: dict[str, Any] = {}
    target = "torch.ops.higher_order.flex_attention"
    called = operation("y", target, X, X, X, ResultRef("score_0"), blocks, 0.5, kernels, (X, X), ())
    graph = CaseGraph(("x",), (*held, called), (ResultRef("y"),), (("score_0", score), ("mask_0", mask)))
    text = repro.program(FailureCase("dynamo", "eager", graph, (tensor("x", 2),)))
    written = "x, x, x, lambda *args: self.score_0(*args, x, x), (128, 128, None, self.mask_0), 0.5, {})"
    assert f"y = {target}({written}\n" in text


def test_data_is_set_as_its_user_does() -> None:
    was_set = operation("set_", "torch.Tensor.set_", X, ResultRef("y"))
    lowered = operation("low", "torch._dynamo.variables.builtin._lower_version_count_by_1", ResultRef("set_"))
    added = operation("z", "torch.add", ResultRef("set_"), 1)
    case = case_of([tensor("x", 2), tensor("y", 2)], [was_set, lowered, added], [ResultRef("z")])
    x, y = torch.zeros(2), torch.ones(2)
    (result,) = defined(case)["Repro"]()(x, y)
    assert torch.equal(result, y + 1)
    assert x.data_ptr() == y.data_ptr()


TRITON = "torch.ops.higher_order.triton_kernel_wrapper_"


def test_what_dynamo_cannot_capture_again_is_written_as_its_user_would() -> None:
    inner = CaseGraph(("y",), (operation("sin", "torch.sin", ResultRef("y")),), (ResultRef("sin"),))
    region, checkpoint = (CaseOperation(name, "get_attr", name, ()) for name in ("region", "checkpointed"))
    called = operation("a", "torch.ops.higher_order.invoke_subgraph", ResultRef("region"), "region", X)
    kept = operation(
        "b",
        "torch.ops.higher_order.tag_activation_checkpoint",
        ResultRef("checkpointed"),
        X,
        use_reentrant=False,
    )
    subgraphs = (("region", inner), ("checkpointed", inner))
    whole = CaseGraph(("x",), (region, called, checkpoint, kept), (ResultRef("a"), ResultRef("b")), subgraphs)
    text = repro.program(FailureCase("dynamo", "eager", whole, (tensor("x", 2),)))
    assert "a = self.region(x)\n" in text
    assert "b = torch.utils.checkpoint.checkpoint(self.checkpointed, x, use_reentrant=False)\n" in text
    hook = CaseOperation("held", "get_attr", "hook", ())
    hooked = operation("c", "torch.ops.higher_order.register_hook", X, ResultRef("held"))
    graph = CaseGraph(("x",), (hook, hooked), (ResultRef("c"),), (("hook", inner),))
    written = repro.program(FailureCase("dynamo", "eager", graph, (tensor("x", 2),)))
    assert "c = (x.register_hook(self.hook), x)[1]\n" in written
    marked = "class Region(torch.nn.Module):\n    @torch.compiler.nested_compile_region\n    def forward("
    assert marked in text
    assert text.count("nested_compile_region") == 1
    in_aten = repro.program(FailureCase("aot", "inductor", whole, (tensor("x", 2),)))
    assert "a = torch.ops.higher_order.invoke_subgraph(self.region, 'region', x)\n" in in_aten
    assert "nested_compile_region" not in in_aten


def test_a_triton_kernel_is_launched_as_its_user_would() -> None:
    given = {"kernel": ConstantCode("add_one"), "grid": (4, 1, 1), "kwargs": {"out": X, "n": 4, "BLOCK": 16}}
    launch = operation("launch", TRITON + "mutation", **given)
    assert lines(case_of([tensor("x", 4)], [launch], [X])) == [
        "add_one[(4, 1, 1)](out=x, n=4, BLOCK=16)",
        "return [x]",
    ]
    launch = operation("launch", TRITON + "functional", **given, tensors_to_clone=["out"])
    item = operation("item", "operator.getitem", ResultRef("launch"), "out")
    assert lines(case_of([tensor("x", 4)], [launch, item], [ResultRef("item")], level="aot")) == [
        "launch = {'out': torch.clone(x)}",
        "torch.library.wrap_triton(add_one)[(4, 1, 1)](out=launch['out'], n=4, BLOCK=16)",
        "item = launch['out']",
        "return [item]",
    ]


# -- inputs ------------------------------------------------------------------------------------

EXACT = [float(value) for value in range(12)]


@pytest.mark.parametrize(
    ("shape", "stride", "value"),
    [
        ((3, 4), (4, 1), NormalValues()),
        ((3, 4), (1, 3), NormalValues(5.0, 0.1)),
        ((3, 4), (8, 2), IntegerValues(2, 9)),
        ((3, 4), (0, 1), NormalValues(-1.0)),
        ((3, 4), (1, 1), ExactValues(struct.pack("12f", *(i + j for i in range(3) for j in range(4))))),
        ((3, 4), (1, 3), ExactValues(struct.pack("12f", *EXACT))),
        ((0, 3), (3, 1), NormalValues()),
        ((), (), NormalValues()),
        ((2, 50), (50, 1), ExactValues(struct.pack("100f", *range(100)))),
    ],
)
@pytest.mark.parametrize("grad", [False, True])
def test_a_tensor_is_what_its_spec_says(
    shape: tuple[int, ...], stride: tuple[int, ...], value: Any, grad: bool
) -> None:
    case = case_of([tensor("x", *shape, stride=stride, grad=grad, value=value)], [], [X])
    inputs = defined(case)["inputs"]
    (x,), (again,) = inputs(), inputs()
    assert (tuple(x.shape), x.stride(), x.dtype, x.requires_grad) == (shape, stride, torch.float32, grad)
    assert x.is_leaf
    assert torch.equal(x, again)
    if isinstance(value, ExactValues):
        assert x.flatten().tolist() == list(struct.unpack(f"{x.numel()}f", value.data))


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "uint8",
        "int32",
        "int64",
        "uint16",
        "float16",
        "bfloat16",
        "float64",
        "float8_e4m3fn",
        "complex64",
    ],
)
@pytest.mark.parametrize("value", [NormalValues(1.0, 0.5), IntegerValues(0, 1), None])
def test_every_dtype_can_be_made(dtype: str, value: Any) -> None:
    size = torch.empty(0, dtype=getattr(torch, dtype)).element_size()
    made = value or ExactValues(b"\1" * 3 * size)
    (x,) = defined(case_of([tensor("x", 3, dtype=dtype, value=made)], [], [X]))["inputs"]()
    assert x.dtype is getattr(torch, dtype)
    if value is None:
        assert bytes(x.view(torch.uint8).tolist()) == made.data


def test_a_few_numbers_are_written_as_such() -> None:
    numbers = ExactValues(struct.pack("3f", 0.1, -math.inf, -0.0))
    text = repro.program(case_of([tensor("x", 3, value=numbers), CaseInput("n", None, 5)], [], [X]))
    assert "torch.tensor([0.1, -math.inf, -0.0]),  # x\n        5,  # n\n" in text
    assert "manual_seed" not in text


class Wrapper(torch.Tensor):
    def __tensor_flatten__(self) -> None: ...


def test_a_tensor_that_others_make_up_is_not_read_as_a_plain_one() -> None:
    assert read_input("x", torch.ones(2)).spec == tensor("x", 2).spec
    with pytest.raises(UnreadableError, match=r"^the input x is a Wrapper, which a repro cannot create$"):
        read_input("x", torch.ones(2).as_subclass(Wrapper))


def test_an_input_with_a_gradient_may_be_written_to() -> None:
    add = operation("add_", "add_", X, 1)
    module = defined(case_of([tensor("x", 3, grad=True)], [add], [ResultRef("add_")]))
    (x,) = module["inputs"]()
    assert module["Repro"]()(x)[0].requires_grad


# -- how it is compiled ------------------------------------------------------------------------


def test_what_must_come_before_does() -> None:
    case = case_of(
        [tensor("x", 3)],
        [operation("y", "torch.sin", X)],
        [ResultRef("y")],
        backend="wrap(mine)",
        backend_is_code=True,
        dynamic=True,
        settings=("torch._functorch.config.donated_buffer = False",),
        preamble=(
            "from __future__ import annotations",
            "import math",
            "def mine(graph, inputs): return graph",
            "wrap = lambda backend: backend",
        ),
    )
    text = repro.program(case)
    assert text.startswith(
        "from __future__ import annotations\nimport torch\nimport torch._functorch.config\nimport math\n\n\n"
        "torch._functorch.config.donated_buffer = False\n\n\ndef mine("
    )
    assert "torch.compile(module, backend=wrap(mine), dynamic=True)" in text
    module = defined(case)
    assert torch.equal(module["compiled"](module["Repro"](), [])(torch.ones(3))[0], torch.ones(3).sin())


# -- the whole file ----------------------------------------------------------------------------


def fault(failure: Failure) -> FaultLocated:
    return FaultLocated(1, "aot_eager", "eager", failure, "0/0")


def ran(case: FailureCase, failure: Failure, folder: Path, *args: str) -> tuple[int, str]:
    """The exit code of the file, run by a fresh interpreter, and what it prints."""
    file = folder / "repro.py"
    file.write_text(repro.write(case, fault(failure), "torch 0.0"), encoding="utf-8")
    done = subprocess.run([sys.executable, file, *args], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def checked(case: FailureCase, failure: Failure, *args: str) -> tuple[int, str]:
    """The same in a forked child, which is faster. An exception counts as printed."""

    def call() -> tuple[int, str]:
        namespace: dict[str, Any] = {"__name__": "repro"}
        exec(compile(repro.write(case, fault(failure), ""), "<repro>", "exec"), namespace)
        sys.argv[1:] = args
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                code = namespace["main"]()
            except Exception as error:
                return 1, repr(error)
        return code, printed.getvalue()

    code, text = in_child(call)
    return code, text


def failing(backend: str, grad: bool = False) -> FailureCase:
    """A case with a backend of its own."""
    preamble = ("import os", "import time", f"def mine(graph, inputs):\n    {backend}\n    return graph")
    return case_of(
        [tensor("x", 2, 3, grad=grad)],
        [operation("y", "torch.relu", X, calls=(StackFrame("model.py", 3, "forward"),))],
        [ResultRef("y")],
        backend="mine",
        backend_is_code=True,
        preamble=preamble,
    )


def test_a_repro_of_an_error_is_short_and_checks_itself(tmp_path: Path) -> None:
    failure = Failure("error", "ValueError", "no relu_1 of [2, 3] at 0x77")
    code, text = ran(failing("raise ValueError('no relu_7 of [4, 4] at 0x12')"), failure, tmp_path)
    assert (code, text) == (0, "Still fails: ValueError: no relu_1 of [2, 3] at 0x77\n")
    text = (tmp_path / "repro.py").read_text()
    assert len(text.splitlines()) < 70
    assert text.startswith(
        "# AOTAutograd fails in the forward pass: ValueError: no relu_1 of [2, 3] at 0x77\n"
    )
    assert "#     model.py:3 in forward\n" in text
    assert "fullgraph" not in text.lower()


def test_a_repro_of_an_error_lets_it_out_if_asked() -> None:
    failing_case, failure = failing("raise ValueError('no relu')"), Failure("error", "ValueError", "no relu")
    assert checked(failing_case, failure)[0] == 0
    code, text = checked(failing_case, failure, "--raise")
    assert code == 1
    assert text.startswith("BackendCompilerFailed")


def test_a_repro_tells_that_it_fails_differently_or_not_at_all() -> None:
    failure = Failure("error", "ValueError", "no relu")
    code, text = checked(failing("raise ValueError('no sin')"), failure)
    assert (code, text.splitlines()[-1]) == (1, "Fails differently.")
    assert checked(failing("pass"), failure) == (1, "No longer fails.\n")


def test_a_repro_of_wrong_numbers_compares_them(tmp_path: Path) -> None:
    wrong = failing("return lambda x: [graph(x)[0] + 1]", grad=True)
    numbers, nan = (Failure("accuracy", kind, f"output 0: {kind}") for kind in ("Numbers", "NaN"))
    code, text = ran(wrong, numbers, tmp_path)
    assert (code, text[:34]) == (0, "Still fails: output 0: off by 1.0e")
    code, text = checked(wrong, nan)
    assert (code, text[:17]) == (1, "Fails differently")
    assert checked(failing("pass", grad=True), numbers) == (1, "No longer fails.\n")


@pytest.mark.slow
def test_a_repro_of_a_crash_looks_how_a_child_ends(tmp_path: Path) -> None:
    aborts = failing("os.abort()", grad=True)
    assert ran(aborts, Failure("crash", "SIGABRT", "the process is ended by SIGABRT"), tmp_path)[0] == 0
    assert ran(aborts, Failure("crash", "SIGSEGV", "the process is ended by SIGSEGV"), tmp_path)[0] == 1
    leaves = failing("os._exit(7)")
    assert ran(leaves, Failure("crash", "Exit", "the process ends with exit code 7"), tmp_path)[0] == 0


@pytest.mark.slow
def test_a_repro_of_a_hang_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = Failure("hang", "Hang", "it takes longer than 10 s")
    assert ran(failing("os._exit(0)"), failure, tmp_path) == (1, "No longer fails.\n")
    monkeypatch.setattr(self_check, "SECONDS", 2)
    code, text = ran(failing("time.sleep(1000)"), failure, tmp_path)
    assert (code, text) == (0, "Still fails: it takes longer than 2 seconds\n")


# -- what of the user's is in it ---------------------------------------------------------------


def header(text: str) -> str:
    return " ".join(line.removeprefix("# ") for line in text.partition("\n\n")[0].splitlines())


def test_a_repro_says_what_it_holds_before_it_is_shared() -> None:
    case = case_of([tensor("x", 2)], [operation("a", "operator.add", X, 1)], [ResultRef("a")])
    text = repro.write(case, fault(Failure("error", "Error", "no")), "torch 0.0")
    assert "Before you share this file: it contains code of your program, and may contain values" in header(
        text
    )


def test_a_recorded_call_says_what_it_holds_before_it_is_shared() -> None:
    call = RecordedCall("f", b"", (), (), False, {}, ())
    text = program.write(call, fault(Failure("error", "Error", "no")), "torch 0.0")
    assert "Before you share this file: ARGUMENTS contains everything passed to the call" in header(text)
    assert "weights included" in header(text)
