"""Requests to a worker: the program to run, and the options of the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .registry import Value

PROTOCOL_VERSION = 1
"""The version of the worker protocol. Increase it when a message changes its meaning."""

CHANNEL_LOST = 113
"""The exit code of a worker whose program closed the connection to ``fullgraph_server``."""


COMPILER = "torch._inductor.compile_fx"
"""The module that workers import before runs at depth ``alone``: TorchInductor, 2.11 to 2.15."""

WATCHER = "__fullgraph_watch__"
"""The builtin of a recorded run that compares the calls of a function of which only a part is compiled.

It takes the function, the compiled part, and whether calls are those of a method, and returns a function to
call instead.
"""

Depth: TypeAlias = str
"""The depth of a run: how far the compiler goes when it compiles the program.

- ``graph``: Dynamo and AOTAutograd; their graphs run eagerly.
- ``recompiles``: as ``graph``, but each frame keeps only one compilation, so that every change of a guarded
  value recompiles.
- ``late-compile``: as ``graph``; compilations after the warm-up are reported (``LateCompilation``).
- ``kernels``: up to the code that TorchInductor generates; graphs run eagerly here, too.
- ``build``: the whole compiler; the compiled code runs.
- ``alone``: as ``build``, but compiled as without Fullgraph: no setting is forced, and no code is reported.

Any other depth is the name of a module of ``fullgraph_compiler.analyses``, which runs the program in its own
way.
"""


@dataclass(frozen=True, slots=True)
class Script(Value):
    """A file that runs as ``__main__``.

    With ``module``, the module of that name runs, wherever the interpreter finds it, as with ``python -m``;
    ``filename`` is then the expected path of the module. With ``console_script``, the console script of that
    name runs, wherever the interpreter's environment has it. With ``pinned``, the module, or the module of
    the console script, must be ``filename``: another file with the same module name is not imported or run.
    """

    filename: str
    args: tuple[str, ...] = ()
    module: str = ""
    console_script: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class PytestNode(Value):
    """A pytest node id (``tests/test_model.py::test_forward``).

    The path in the id is absolute, or relative to the working directory.
    """

    node: str


GIVEN_OPERATIONS = ("item", "nonzero", "masked_select")
"""The operations whose results an example call can provide for a run without data."""


@dataclass(frozen=True, slots=True)
class GivenValue(Value):
    """The result to assume for a data-dependent operation in a row, in a dry run.

    For ``item``, ``value`` is the number itself; for the other operations, it is the number of elements.
    """

    operation: str
    row: int
    value: int | float | bool


@dataclass(frozen=True, slots=True)
class ExampleCall(Value):
    """One call of an example: its source text, and its location in the file.

    ``values`` replace data-dependent results in a dry run. With ``export``, the called function or module is
    not compiled, but exported with the arguments of the call.
    """

    source: str
    row: int
    column: int = 0
    values: tuple[GivenValue, ...] = ()
    export: bool = False


@dataclass(frozen=True, slots=True)
class Example(Value):
    """The example calls of one function, method or class, run in order.

    ``qualname`` is the qualified name within the module: ``f``, ``Block``, ``Block.step``.
    """

    qualname: str
    calls: tuple[ExampleCall, ...]


@dataclass(frozen=True, slots=True)
class Examples(Value):
    """The example calls of one file, which is imported, not run as ``__main__``."""

    filename: str
    examples: tuple[Example, ...]


Program: TypeAlias = Script | PytestNode | Examples


@dataclass(frozen=True, slots=True)
class SourceText(Value):
    """The text of a file, which differs from the text on disk: an unsaved editor."""

    filename: str
    text: str


Dynamic: TypeAlias = Literal["on", "off", "automatic"]
"""Dynamic shapes: from the first call (``on``), never (``off``), or once a size changes (``automatic``)."""


Files: TypeAlias = Literal["keep", "discard"]
"""Whether the files that a program writes remain after the run or are discarded."""


@dataclass(frozen=True, slots=True)
class Switches(Value):
    """Options that override settings of the program; the defaults change nothing.

    ``dynamic`` and ``recompile_limit`` replace torch's settings. ``only`` is a regular expression: frames of
    functions whose name does not match run eagerly. ``cold_caches`` compiles everything again, without using
    caches. ``cpp_stacks`` records the C++ code that adds each shape guard, which is slow. At depth
    ``late-compile``, a compiled function may compile during its first ``warm_up`` calls. At depth ``speed``,
    ``variants`` also measures other ways to compile the program (``VariantMeasured``). In a ``dry_run``,
    tensors have no data. With a ``device`` (a key of :data:`.devices.DEVICES`), kernels are written for that
    GPU, and the run is always dry. ``files`` is ``None`` if the user made no choice.
    """

    dynamic: Dynamic | None = None
    recompile_limit: int | None = None
    only: str = ""
    cold_caches: bool = False
    cpp_stacks: bool = False
    warm_up: int = 1
    variants: bool = False
    dry_run: bool = False
    device: str = ""
    files: Files | None = None

    @property
    def without_data(self) -> bool:
        """Whether the run is a dry run."""
        return self.dry_run or bool(self.device)

    @property
    def discards_files(self) -> bool:
        """Whether the program's file changes are discarded at the end of the run."""
        return self.without_data or self.files == "discard"


@dataclass(frozen=True, slots=True)
class AddedSizes(Value):
    """More sizes with which to call functions, for one dimension of a tensor.

    The dimension is ``dim`` of the tensor ``place``, which is a parameter or an item of its argument
    (``batch['ids']``).
    """

    place: str
    dim: int
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunRequest(Value):
    """A request to run one program once and report facts.

    ``texts`` replace the contents of files. A run deeper than ``graph`` stores compiled kernels in the folder
    ``cache``, unless ``cache`` is empty, and gives up on a graph that takes longer than ``patience`` seconds.
    A run of ``recipes`` that uses more than ``memory`` bytes fails. ``variables`` are added to the
    environment before the program runs; they differ between the processes (ranks) of one program, which start
    from the same warm state. ``meeting`` is a folder through which these processes share the discarded files
    that they write. With ``low_priority``, the run lets all other work use the processor first. Unless
    ``record`` is empty, the results of compiled calls are recorded in that file for a
    :class:`CompareRequest`. ``other_mode`` calls modules in evaluation mode if the program trains them, and
    vice versa; ``uncompiled`` calls the original functions instead of the compiled functions. At depth
    ``alone``, ``exact`` makes TorchInductor draw random numbers and round as uncompiled code does. Unless
    ``added`` is ``None``, the program's calls are repeated at its end with the sizes in ``added``, then with
    sizes that Fullgraph chooses, and compared with uncompiled calls (``SizeTried``). ``workspace`` is the
    folder of the workspace. ``threads`` is the largest number of threads of torch's operations; 0 sets no
    limit.
    """

    generation: int
    program: Program
    depth: Depth = "graph"
    texts: tuple[SourceText, ...] = ()
    cache: str = ""
    patience: float = 300.0
    memory: int | None = None
    switches: Switches = field(default_factory=Switches)
    variables: tuple[tuple[str, str], ...] = ()
    meeting: str = ""
    record: str = ""
    other_mode: bool = False
    uncompiled: bool = False
    exact: bool = False
    low_priority: bool = False
    added: tuple[AddedSizes, ...] | None = None
    workspace: str = ""
    threads: int = 0


Level: TypeAlias = Literal["dynamo", "aot"]
"""The level of a graph: as Dynamo passes it to a backend, or as AOTAutograd passes it to TorchInductor."""


@dataclass(frozen=True, slots=True)
class MinifyRequest(Value):
    """A request to minify a failure of one program to a repro.

    ``failure`` is the ``number`` of a ``FaultLocated``, ``compile_id`` identifies the graph at fault; 0 and
    empty select the first fault. ``output``, an absolute path, always holds the best repro so far. Answers to
    earlier queries and compiled kernels are stored in the folder ``cache``, unless ``cache`` is empty.
    ``level`` is the level of the repro's graph; ``None`` selects the level of the failing stage. A graph that
    takes longer than ``patience`` seconds counts as hanging. With ``discards_files``, the program's file
    changes are discarded.
    """

    generation: int
    program: Program
    output: str
    cache: str = ""
    failure: int = 0
    compile_id: str = ""
    level: Level | None = None
    texts: tuple[SourceText, ...] = ()
    patience: float = 300.0
    discards_files: bool = False
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class CompareRequest(Value):
    """A request to compare the recorded results of two runs of a program.

    ``before`` and ``after`` are the files of the recordings. With ``errors_differ``, a call in ``after`` may
    raise ``RuntimeError`` if the same call in ``before`` raised another error. ``rounded`` is the file of a
    third recording, of the program of ``before`` with another rounding; empty if there is none. Where it
    differs from ``before``, ``after`` may differ, too, by a similar amount.
    """

    generation: int
    before: str
    after: str
    errors_differ: bool = False
    rounded: str = ""


@dataclass(frozen=True, slots=True)
class Trial(Value):
    """A comparison of statements in a file with the ``text`` that would replace them.

    ``row`` to ``end_row`` are whole statements of one block in a function of the file; ``text`` replaces
    these lines, including their indentation. With ``runs_skipped``, the new statements run code that the old
    statements skip: this code may draw random numbers, and its non-finite values may reach gradients. With
    ``errors_differ``, the new statements may raise ``RuntimeError`` if the old statements raise another
    error. ``defines`` is code at module level that the new statements need. Gradients are compared only with
    ``gradients``; without it, no tensor has a gradient there. Printed text and warnings are compared only
    with ``prints``. ``owned`` is a variable that alone holds its tensor: the new statements may assign
    another one instead of changing this one. With ``raises_more``, the new statements may raise an error for
    values that the program did not use.
    """

    number: int
    filename: str
    row: int
    end_row: int
    text: str
    runs_skipped: bool = False
    errors_differ: bool = False
    defines: str = ""
    gradients: bool = True
    prints: bool = True
    owned: str = ""
    raises_more: bool = False


@dataclass(frozen=True, slots=True)
class TrialRequest(Value):
    """A request to try replacements of statements on values of an uncompiled run.

    Each trial runs the old and the new statements on the program's values, and on other values derived from
    them, until every branch of the old statements was taken. The file changes of the program are discarded.
    ``threads`` is the largest number of threads of torch's operations; 0 sets no limit.
    """

    generation: int
    program: Program
    trials: tuple[Trial, ...]
    texts: tuple[SourceText, ...] = ()
    patience: float = 60.0
    workspace: str = ""
    threads: int = 0


@dataclass(frozen=True, slots=True)
class CallPlace(Value):
    """A call expression in a file.

    Rows and columns begin at 1, columns count characters, and the end is exclusive. If the call is a call of
    an operator of torch, the operator is checked; with ``gradients``, the operator's gradients are checked,
    too.
    """

    number: int
    filename: str
    row: int
    column: int
    end_row: int
    end_column: int
    gradients: bool = False


@dataclass(frozen=True, slots=True)
class CallsRequest(Value):
    """A request to observe the calls at ``places`` in an uncompiled run.

    Each called function is also called on copies of its arguments, and on arguments of other sizes. The file
    changes of the program are discarded. ``threads`` is the largest number of threads of torch's operations;
    0 sets no limit.
    """

    generation: int
    program: Program
    places: tuple[CallPlace, ...]
    texts: tuple[SourceText, ...] = ()
    patience: float = 60.0
    workspace: str = ""
    threads: int = 0
