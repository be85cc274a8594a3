"""Example calls from what a trace tells of the calls that it saw compiled."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fullgraph_compiler.facts import Fact, FrameInputs, FrameStarted, GuardInstalled, InputTensor, StackFrame
from fullgraph_server.report.model import Report, SeenCall
from fullgraph_server.traces.seen_calls import example_lines, seen_calls
from fullgraph_server.workspace.source import SourceFile
from fullgraph_server.workspace.workspace import Workspace

pytestmark = pytest.mark.portable

FILE = "/w/model.py"


def tensor(source: str, *size: int, dtype: str = "f32", stride: tuple[int, ...] = (), grad: bool = False,
           parameter: bool = False, device: str = "cpu") -> InputTensor:  # fmt: skip
    return InputTensor(source, dtype, size, stride, device, grad, parameter)


def guard(source: str, kind: str, expected: str, code: str = "", compile_id: str = "0/0") -> GuardInstalled:
    return GuardInstalled(compile_id, source, kind, expected, code, ())


def equals(source: str, value: str) -> GuardInstalled:
    return guard(source, "EQUALS_MATCH", value)


def of_type(source: str, name: str) -> GuardInstalled:
    return guard(source, "TYPE_MATCH", f"type {name}")


def length(source: str, number: int) -> GuardInstalled:
    return guard(source, "LENGTH_CHECK", f"length {number}")


class Trace:
    """A trace of one file."""

    def __init__(self, text: str, **others: str) -> None:
        texts = {FILE: text, **{f"/w/{name}.py": other for name, other in others.items()}}
        self._sources = {
            name: SourceFile(name, textwrap.dedent(text).lstrip("\n")) for name, text in texts.items()
        }
        self._facts: list[Fact] = []

    def compiled(
        self,
        name: str,
        *told: InputTensor | GuardInstalled,
        compile_id: str = "0/0",
        resumes: bool = False,
        numbers: Mapping[str, int | float] | None = None,
        stack: Sequence[str] = (),
        row: int | None = None,
    ) -> Trace:
        """A compilation of a function of the file, and what it tells of its inputs."""
        lines = self._sources[FILE].lines
        found = row or 1 + next(i for i, line in enumerate(lines) if line.lstrip().startswith(f"def {name}("))
        callers = tuple(StackFrame(f"/w/{caller}.py", 1, "main") for caller in stack)
        self._facts.append(FrameStarted(compile_id, name, FILE, found, callers, found if resumes else None))
        self._facts += (
            replace(item, compile_id=compile_id) for item in told if isinstance(item, GuardInstalled)
        )
        tensors = tuple(item for item in told if isinstance(item, InputTensor))
        self._facts.append(FrameInputs(compile_id, tensors, tuple((numbers or {}).items())))
        return self

    def calls(self) -> tuple[SeenCall, ...]:
        return seen_calls(self._facts, Workspace(Path("/w"), self._sources.get))

    def texts(self) -> list[str]:
        return [call.text for call in self.calls()]


def call_of(
    header: str, *told: InputTensor | GuardInstalled, numbers: Mapping[str, float] | None = None
) -> str:
    """The only example call of a function with this header."""
    (text,) = Trace(f"def f({header}): ...").compiled("f", *told, numbers=numbers).texts()
    return text


X = tensor("L['x']", 3)
DONE = guard("", "GLOBAL_STATE", "")
"""A guard that tells of no input: the frame was traced to its end."""


# -- arguments ---------------------------------------------------------------------------------


def test_each_new_input_is_a_call_in_the_order_of_the_compilations() -> None:
    trace = Trace("def f(a, b): ...")
    for number, size in enumerate((10, 12, 12)):
        inputs = tensor("L['a']", size), tensor("L['b']", size, 4)
        trace.compiled("f", *inputs, DONE, compile_id=f"0/{number}")
    assert trace.calls() == (
        SeenCall("f", FILE, 1, "f(f32[10], f32[10, 4])", True),
        SeenCall("f", FILE, 1, "f(f32[12], f32[12, 4])", True),
    )


def test_of_many_calls_the_first_four_are_kept() -> None:
    trace = Trace("def f(x): ...")
    for size in range(9):
        trace.compiled("f", tensor("L['x']", size), compile_id=f"0/{size}")
    assert trace.texts() == ["f(f32[0])", "f(f32[1])", "f(f32[2])", "f(f32[3])"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (tensor("L['x']"), "f32[()]"),
        (tensor("L['x']", 2, 3, dtype="i64", device="cuda:0"), "i64[2, 3]"),
        (tensor("L['x']", 3, grad=True), "f32[3].requires_grad_()"),
        (tensor("L['x']", 3, grad=True, parameter=True), "torch.nn.Parameter(f32[3])"),
        (tensor("L['x']", 3, parameter=True), "torch.nn.Parameter(f32[3], requires_grad=False)"),
        (tensor("L['x']", 4, 3, stride=(3, 1)), "f32[4, 3]"),
        (tensor("L['x']", 4, 3, stride=(1, 4)), "f32[3, 4].t()"),
        (tensor("L['x']", 4, 1, stride=(1, 4)), "f32[4, 1]"),
        (tensor("L['x']", 2, 3, 4, 5, stride=(60, 1, 15, 3)), "f32[2, 4, 5, 3].permute(0, 3, 1, 2)"),
        (tensor("L['x']", 3, 2, stride=(4, 2)), "f32[3, 2]"),
        (tensor("L['x']", 3, 4, stride=(1, 0)), "f32[3, 1].expand(3, 4)"),
        (tensor("L['x']", 2, 3, 4, stride=(1, 0, 2)), "f32[4, 1, 2].permute(2, 1, 0).expand(2, 3, 4)"),
        (tensor("L['x']", 2, 0, stride=(1, 1)), "f32[2, 0]"),
    ],
)
def test_a_tensor_is_made_by_its_factory(given: InputTensor, text: str) -> None:
    assert call_of("x", given, DONE) == f"f({text})"


def test_a_tensor_of_a_dtype_that_has_no_factory_is_left_to_a_person() -> None:
    (call,) = Trace("def f(x): ...").compiled("f", tensor("L['x']", 2, dtype="qint8"), DONE).calls()
    assert (call.text, call.complete) == ("f(...)", False)


def test_constants_come_from_guards() -> None:
    told = [
        equals("L['n']", "3"),
        equals("L['mode']", "'sum'"),
        guard("L['flag']", "TRUE_MATCH", "True"),
        guard("L['mask']", "NONE_MATCH", "is None"),
        equals("L['dtype']", "torch.float16"),
        equals("L['low']", "-1.5"),
    ]
    header = "x, n, mode, flag, mask, dtype, low"
    assert call_of(header, X, *told) == "f(f32[3], 3, 'sum', True, None, torch.float16, -1.5)"


def test_numbers_that_are_symbols_have_the_value_that_they_had() -> None:
    told = X, of_type("L['n']", "int"), of_type("L['s']", "float")
    assert call_of("x, n, s", *told, numbers={"L['n']": 5, "L['s']": -2.5}) == "f(f32[3], 5, -2.5)"


@pytest.mark.parametrize(
    "value", ["__import__('os').system('x')", "<Color.RED: 1>", "'" + "a" * 600 + "'", "("]
)
def test_what_is_no_constant_is_left_to_a_person(value: str) -> None:
    assert call_of("x, n", X, equals("L['n']", value)) == "f(f32[3], ...)"


def test_defaults_are_left_out_and_what_follows_has_its_name() -> None:
    told = X, equals("L['mode']", "'sum'"), tensor("L['bias']", 4)
    assert call_of("x, mode='sum', bias=None", *told) == "f(f32[3], bias=f32[4])"
    assert call_of("x, mode='max', bias=None", *told) == "f(f32[3], 'sum', f32[4])"
    assert call_of("x, unused=1, *, mode, bias", *told) == "f(f32[3], mode='sum', bias=f32[4])"
    assert call_of("x, mode='sum', bias=None, /", *told) == "f(f32[3], 'sum', f32[4])"


def test_a_parameter_that_nothing_depends_on_is_none() -> None:
    assert call_of("x, unused", X, DONE) == "f(f32[3], None)"
    assert call_of("x, *, unused", X, DONE) == "f(f32[3], unused=None)"


def test_a_parameter_of_a_frame_that_was_not_traced_to_its_end_is_left_to_a_person() -> None:
    assert call_of("x, unused", X) == "f(f32[3], ...)"


def test_more_arguments_are_written_one_by_one() -> None:
    told = [
        X,
        of_type("L['args']", "tuple"),
        length("L['args']", 3),
        tensor("L['args'][1]", 2),
        of_type("L['kwargs']", "dict"),
        equals("L['kwargs']['k']", "3"),
    ]
    assert call_of("x, scale=2, *args, **kwargs", *told) == "f(f32[3], 2, None, f32[2], None, k=3)"
    nothing = of_type("L['args']", "tuple"), length("L['args']", 0)
    assert call_of("x, scale=2, *args", X, *nothing) == "f(f32[3])"


def test_containers_are_put_together() -> None:
    told = [
        of_type("L['xs']", "list"),
        length("L['xs']", 2),
        tensor("L['xs'][0]", 3),
        of_type("L['d']", "dict"),
        of_type("L['d']['a']", "dict"),
        tensor("L['d']['a']['b']", 3),
        equals("L['d'][5]", "2"),
        of_type("L['t']", "tuple"),
        length("L['t']", 1),
        equals("L['t'][0]", "4"),
        of_type("L['empty']", "list"),
    ]
    assert call_of("xs, d, t, empty", *told) == "f([f32[3], None], {'a': {'b': f32[3]}, 5: 2}, (4,), [])"


def test_containers_without_guards_are_told_by_their_keys() -> None:
    told = tensor("L['xs'][1]", 3), tensor("L['xs'][0]", 2), tensor("L['d']['a']", 4)
    assert call_of("xs, d", *told) == "f([f32[2], f32[3]], {'a': f32[4]})"


def test_a_sequence_that_is_too_long_to_write_is_left_to_a_person() -> None:
    assert call_of("x, n", X, of_type("L['n']", "list"), length("L['n']", 10**9)) == "f(f32[3], [...])"


def test_no_call_is_longer_than_a_person_wants() -> None:
    inputs = [tensor(f"L['xs'][{index}]", 3) for index in range(300)]
    assert Trace("def f(xs): ...").compiled("f", *inputs).calls() == ()


def test_an_expression_without_end_is_nobodys_argument() -> None:
    assert call_of("x", X, tensor("L['x']" + "[0]" * 100_000, 4), tensor("L['y']" + "[0]" * 99, 4), DONE) == (
        "f(f32[3])"
    )


def test_the_same_tensor_given_twice_is_made_once() -> None:
    told = tensor("L['b']", 3), guard("", "LAMBDA_GUARD", "is L['a']", "L['b'] is L['a']")
    assert call_of("a, b", *told) == "f((a := f32[3]), a)"


@pytest.mark.parametrize("kind", ["@dataclass\nclass Pair:", "class Pair(NamedTuple):"])
def test_records_are_made_by_their_fields(kind: str) -> None:
    text = f"{kind}\n    a: object\n    b: object\n    c: int = 3\n\ndef f(p): ...\n"
    told = of_type("L['p']", "__main__.Pair"), tensor("L['p'].a", 3)
    assert Trace(text).compiled("f", *told).texts() == ["f(Pair(a=f32[3], b=None))"]


def test_a_named_tuple_without_a_class_is_made_by_its_name() -> None:
    text = "Pair = collections.namedtuple('Pair', 'a b')\ndef f(p): ..."
    told = of_type("L['p']", "__main__.Pair"), tensor("L['p'].a", 3), tensor("L['p'].b", 3)
    assert Trace(text).compiled("f", *told).texts() == ["f(Pair(a=f32[3], b=f32[3]))"]


def test_an_object_of_another_class_is_left_to_a_person() -> None:
    told = X, of_type("L['p']", "__main__.Config"), equals("L['p'].n", "3")
    assert call_of("x, p", *told) == "f(f32[3], ...)"


# -- graph breaks ------------------------------------------------------------------------------


def test_what_is_used_after_a_graph_break_only_is_an_input_too() -> None:
    trace = Trace("def f(a, b): ...").compiled("f", tensor("L['a']", 3), DONE)
    trace.compiled("f", tensor("L['x']", 9), tensor("L['b']", 4), compile_id="1/0", resumes=True)
    # A second call, for which the resume function needed no new compilation.
    trace.compiled("f", tensor("L['a']", 5), DONE, compile_id="0/1")
    assert trace.texts() == ["f(f32[3], f32[4])", "f(f32[5], f32[4])"]


def test_a_parameter_that_was_assigned_to_is_what_it_was_at_the_start() -> None:
    trace = Trace("def f(n, x):\n    n = g(x)\n    return n\n").compiled("f", equals("L['n']", "3"), X)
    trace.compiled("f", tensor("L['n']", 4), compile_id="1/0", resumes=True)
    assert trace.texts() == ["f(3, f32[3])"]


def test_a_call_without_tensors_is_none_worth_checking() -> None:
    assert Trace("def f(n): ...").compiled("f", equals("L['n']", "3")).calls() == ()


# -- what is called ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["def outer():\n    def f(x): ...\n", "f = lambda x: x\n", "async def f(x): ...\n", "def f(x): ("],
)
def test_what_no_example_can_call_has_none(text: str) -> None:
    row = text.count("\n", 0, text.index("f(") if "f(" in text else 0) + 1
    assert Trace(text).compiled("f", X, DONE, row=row).calls() == ()


def test_functions_of_libraries_and_files_that_are_not_there_have_none() -> None:
    started = [FrameStarted("0/0", "f", "/lib/a.py", 1), FrameStarted("1/0", "f", "/w/gone.py", 1)]
    facts = [*started, FrameInputs("0/0", (X,)), FrameInputs("1/0", (X,))]
    found = SourceFile("/lib/a.py", "def f(x): ...")
    assert seen_calls(facts, Workspace(Path("/w"), {"/lib/a.py": found}.get)) == ()


def test_a_decorated_function_is_found_by_its_first_row() -> None:
    text = "@torch.compile\n@other\ndef f(x): ...\n"
    (call,) = Trace(text).compiled("f", X, row=1).calls()
    assert call.row == 3


MODULE = """
    class Net(nn.Module):
        def __init__(self{parameters}):
            super().__init__()

        def forward(self, x, mask=None): ...

        def loss(self, x): ...

        @staticmethod
        def plain(x): ...

        @classmethod
        def made(cls, x): ...
"""


def module(parameters: str, more: str = "") -> str:
    return textwrap.dedent(MODULE.format(parameters=parameters)) + more


@pytest.mark.parametrize(
    ("parameters", "more", "made"),
    [
        ("", "", "Net()"),
        (", d=4, *, h=2", "", "Net()"),
        (", d", "", "Net(...)"),
        (", *, d", "", "Net(...)"),
        (", d", "net = Net(d=64)", "Net(d=64)"),
        (", d", "other = nn.Net(d=64)", "Net(...)"),
        (", d", "d = 3\ndef main(d):\n    Net(d)", "Net(...)"),
        (", d=4", "def main():\n    net = Net(64, device='cpu').to('cpu')", "Net(64, device='cpu')"),
        (", d", "D = 8\nnet = Net(D * 2)", "Net(D * 2)"),
        (", d", "if __name__ == '__main__':\n    d = 8\n    net = Net(d)", "Net(8)"),
        (", d", "def main(args):\n    net = Net(args.d)", "Net(...)"),
        (", d", "def main():\n    Net(parse().d)", "Net(...)"),
        (", d", "def main():\n    Net([n for n in (1, 2)])", "Net(...)"),
        (", c", "class Config: ...\ndef main():\n    c = Config(n=3)\n    Net(c)", "Net(Config(n=3))"),
        (", c", "def main():\n    c = Other(n=3)\n    Net(c)", "Net(...)"),
    ],
)
def test_a_module_is_constructed_as_its_source_does(parameters: str, more: str, made: str) -> None:
    given = tensor("L['x']", 2, 4), tensor("L['self']._parameters['w']", 4), DONE
    (call,) = Trace(module(parameters, more)).compiled("forward", *given).calls()
    assert call == SeenCall("Net", FILE, 1, f"{made}(f32[2, 4])", "..." not in made)


def test_a_module_is_constructed_as_the_program_does_that_called_it() -> None:
    program = "import model\nwidth = 32\ndef main():\n    model.Net(width)(x)\n"
    trace = Trace(module(", d", "width = 5\nnet = Net(1)"), train=program)
    trace.compiled("forward", X, DONE, stack=["train"])
    assert trace.texts() == ["Net(32)(f32[3])"]


def test_a_construction_is_not_changed_where_it_stands() -> None:
    text = module(", d", "def main():\n    width = 8\n    Net([width])(x)")
    trace = Trace(text).compiled("forward", X, DONE)
    assert [trace.texts(), trace.texts()] == [["Net([8])(f32[3])"]] * 2
    assert "Net([width])" in text


def test_methods_are_called_on_an_object_or_the_class() -> None:
    trace = Trace(module(""))
    for number, name in enumerate(("loss", "plain", "made")):
        trace.compiled(name, X, DONE, compile_id=f"{number}/0")
    calls = [(call.function, call.text) for call in trace.calls()]
    assert calls == [
        ("Net.loss", "Net().loss(f32[3])"),
        ("Net.plain", "Net.plain(f32[3])"),
        ("Net.made", "Net.made(f32[3])"),
    ]


def test_a_method_that_is_inherited_is_called_on_the_class_of_the_object() -> None:
    text = module(", d", "class Sub(Net):\n    def __init__(self): ...\n")
    trace = Trace(text).compiled("forward", X, of_type("L['self']", "__main__.Sub"))
    (call,) = trace.calls()
    assert (call.function, call.text) == ("Sub", "Sub()(f32[3])")


def test_a_base_that_nobody_knows_may_need_arguments() -> None:
    text = "class Net(Unknown):\n    def forward(self, x): ...\n"
    assert Trace(text).compiled("forward", X).texts() == ["Net(...)(f32[3])"]
    text = "class Net(nn.Module):\n    def forward(self, x): ...\n"
    assert Trace(text).compiled("forward", X).texts() == ["Net()(f32[3])"]


def test_calls_that_lack_something_give_way_to_those_that_do_not() -> None:
    trace = Trace("def f(x, n): ...").compiled("f", X)
    trace.compiled("f", X, equals("L['n']", "3"), compile_id="0/1")
    assert trace.texts() == ["f(f32[3], 3)"]


# -- lines -------------------------------------------------------------------------------------


def test_lines_are_comments_by_definition() -> None:
    calls = (
        SeenCall("f", FILE, 3, "f(f32[2])", True),
        SeenCall("f", FILE, 3, "f(f32[4])", True),
        SeenCall("Net", FILE, 9, "Net()(f32[2])", True),
    )
    assert example_lines(Report("log", 1, calls=calls)) == [
        (FILE, 3, ["# fullgraph: f(f32[2])", "# fullgraph: f(f32[4])"]),
        (FILE, 9, ["# fullgraph: Net()(f32[2])"]),
    ]
