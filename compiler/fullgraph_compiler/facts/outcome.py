"""Outcomes of a program, its graphs and its repros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .capture import GuardFailure
from .registry import Fact, Result, Value
from .stacks import Severity, Stack

Status: TypeAlias = Literal[
    "finished", "raised", "exited", "crashed", "timeout", "memory", "cancelled", "not-started"
]
"""How a run ended; ``timeout`` and ``memory`` name the limit that the run exceeded."""


@dataclass(frozen=True, slots=True)
class Failure(Value):
    """The failure of a graph or a program at one stage of the compiler.

    ``error`` is the type name of the exception, or the name of the signal. ``message`` is the first line of
    the exception's message, or the difference between results. ``phase`` is the pass that fails. ``text`` is
    the whole traceback.
    """

    kind: Literal["error", "accuracy", "crash", "hang"]
    error: str
    message: str
    phase: Literal["forward", "backward"] = "forward"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Drawn(Value):
    """An operation that draws random numbers, and the user stack of its call.

    ``name`` is torch's name (``torch.randn_like``).
    """

    name: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class Noise(Fact):
    """A number in a graph's results that depends mostly on rounding.

    Both ``compiled`` and ``plain`` (uncompiled) differ much from ``exact`` (computed in float64).
    """

    compile_id: str
    dtype: str
    compiled: float
    plain: float
    exact: float


@dataclass(frozen=True, slots=True)
class StageChecked(Fact):
    """The result of a graph, or of the program, at one stage.

    ``failure`` is ``None`` if the stage passes. Without a ``compile_id``, the fact is about a run of the
    whole program:

    - ``uncompiled``
    - ``unwrapped``: as ``uncompiled``, but ``torch.compile`` returns each module itself; only if
      ``uncompiled`` fails
    - ``eager``: Dynamo alone
    - ``compiled``: the program's own backend, if no earlier stage fails
    - ``fallback_random``: as ``compiled``, but with the random numbers of eager code; only if these may be
      the difference

    Each graph has the stages ``aot_eager``, ``aot_eager_decomp_partition`` and the program's own backend
    (``inductor``). A failure of ``compiled`` with the ``error`` ``Output`` says only that the program printed
    something else.

    ``otherwise`` names the kind of run of the whole program in which a difference disappears:

    - ``emulate_precision_casts``: results in half precision differed
    - ``use_numpy_random_stream``: NumPy's random numbers differed
    - ``compiled anew`` (each call is compiled again): the program printed something else
    - ``fallback_random``: the random numbers of the operations in ``drawn`` differed
    """

    stage: str
    compile_id: str
    failure: Failure | None
    seconds: float
    otherwise: str = ""
    drawn: tuple[Drawn, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorFault(Value):
    """A custom operator (``mylib::twice``) that does not do what it declares.

    ``said`` is torch's sentence about the operator.
    """

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class GraphUnchecked(Fact):
    """A captured graph whose stages were not checked; ``reason`` is a clause.

    Without a ``compile_id``, ``reason`` is a noun phrase: it names something else that was not checked.
    """

    compile_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RerunsSkipped(Fact):
    """Reruns skipped in the search for a cause: the program has outside effects.

    The program connects to servers or starts programs (``RunFinished.reaches_others``).
    """


@dataclass(frozen=True, slots=True)
class Evidence(Value):
    """A value, as it was in two uncompiled calls of the same code.

    ``before`` is the value in an earlier call, ``now`` the value in the call that differs. ``name`` is the
    variable, function or setting, if ``stack`` does not show it.
    """

    name: str
    before: str
    now: str
    stack: Stack = ()


CauseKind: TypeAlias = Literal[
    "reused",
    "branch",
    "loop",
    "called",
    "hook",
    "value",
    "aliasing",
    "setting",
    "numpy",
    "numpy-random",
    "cached",
    "compiling",
    "wrapped",
]
"""The reason why a compiled call differs from the uncompiled call. torch reused a graph that does not fit:

- ``reused``: it is not known what has changed since the graph was compiled.
- ``branch``, ``loop``: a condition has another truth value, or a loop ends earlier or later.
- ``called``: an instruction calls another function.
- ``hook``: a hook was registered later, or removed. Evidence: the hook, and where it was registered.
- ``value``: a variable has another value, or a function of Python's standard library returns another value.
- ``aliasing``: two inputs share memory in only one of the calls, and an instruction writes to that memory.
- ``setting``: a setting of torch has another value.

Other reasons:

- ``numpy``: torch's translations of NumPy functions return other numbers than NumPy.
- ``numpy-random``: compiled code draws NumPy's random numbers from torch.
- ``cached``: ``functools`` caches the results of a function, but Dynamo traces the function.
- ``compiling``: the program checks whether it is being compiled.
- ``wrapped``: ``torch.compile`` returns an ``OptimizedModule`` for a module. Evidence: the calls that
  returned an ``OptimizedModule``.
"""


@dataclass(frozen=True, slots=True)
class Cause(Value):
    """The cause of a difference, as far as runs of the program have shown it.

    ``call`` is the number of the call of ``function`` that differs; ``compiled`` is the number of the call in
    which its graph was compiled, 0 if unknown or not the cause. ``caller`` is the stack of the differing
    call.
    """

    kind: CauseKind
    function: str
    call: int
    compiled: int
    evidence: tuple[Evidence, ...] = ()
    caller: Stack = ()


@dataclass(frozen=True, slots=True)
class SettingFault(Value):
    """A setting of torch that the program changed and that makes a graph fail.

    With torch's ``default``, the graph passes. ``value`` and ``default`` are Python expressions.
    """

    name: str
    value: str
    default: str


@dataclass(frozen=True, slots=True)
class FaultLocated(Fact):
    """A fault between the last stage that passes and the first stage that fails.

    ``passes`` is the last stage that passes, empty if none does; ``stage`` is the stage that fails.
    ``number`` counts the faults of a run from 1. ``compile_id`` is empty for a fault outside all graphs.
    ``detail`` is the part of TorchInductor that torch's bisector names (``lowerings, 2: aten.relu.default``).
    ``stack`` is the user code of the faulty operation, or of the first operation of the graph.
    """

    number: int
    stage: str
    passes: str
    failure: Failure
    compile_id: str
    stack: Stack = ()
    detail: str = ""
    operator: OperatorFault | None = None
    """The operator that misleads the compiler; if set, the fault is not the compiler's."""
    cause: Cause | None = None
    """Why the results of the whole program differ, if known; the cause's evidence has the location."""
    settings: tuple[SettingFault, ...] = ()
    """Settings that the program changed; the default of any single one makes the graph pass."""


@dataclass(frozen=True, slots=True)
class RecipeTried(Result):
    """The result of the whole program with one part of the compiler turned off.

    ``memory`` is the peak use in bytes: GPU memory if the program used a GPU.
    """

    recipe: str
    failure: Failure | None
    seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class MinifyProgress(Fact):
    """The smallest graph so far that fails in the same way, and the effort spent.

    ``nodes`` is the size of the smallest graph, ``nodes_at_first`` that of the original.
    """

    nodes: int
    nodes_at_first: int
    queries: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ReproWritten(Fact):
    """A finished repro.

    ``stack`` has the user's lines from which the repro's operations come. ``reproduces`` says whether the
    file fails in the same way when a fresh interpreter runs it.
    """

    filename: str
    nodes: int
    nodes_at_first: int
    queries: int
    cached: int
    seconds: float
    reproduces: bool
    stack: Stack = ()


@dataclass(frozen=True, slots=True)
class ModulesLoaded(Fact):
    """The modules that the program imported since the last fact of this kind.

    ``filenames`` are source files outside the standard library and installed packages;
    ``libraries`` are names of modules of installed packages, in the order of their import;
    ``variables`` are the environment variables that the program's own files set.
    """

    filenames: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramRaised(Fact):
    """An exception that the user's program raised, not the compiler.

    ``failures`` are the guards that failed, if the program forbids recompilations. ``hints`` say how the
    program should be started. ``caught`` says that the program caught the exception and continued.
    """

    error: str
    message: str
    stack: Stack
    text: str
    failures: tuple[GuardFailure, ...] = ()
    hints: tuple[str, ...] = ()
    caught: bool = False


@dataclass(frozen=True, slots=True)
class TargetProblem(Fact):
    """A problem with the target or its environment; ``message`` says what to do.

    Without a stack, the problem belongs to the target's file; with ``of_run``, it belongs to the run, not to
    a file.
    """

    severity: Severity
    message: str
    hints: tuple[str, ...] = ()
    stack: Stack = ()
    of_run: bool = False


@dataclass(frozen=True, slots=True)
class RunFinished(Fact):
    """The last fact of a run: its status, its wall time, and its exit code, if any.

    ``seconds`` is the wall time. ``fullgraph_server`` measures the time again, from the start of the process,
    because the user waits for the start, too. ``left_out`` names the parts of the compiler that the program
    requested but the run skipped. ``reaches_others`` says that the program connected to a server or started
    another program, so each run may have outside effects. ``unobserved`` counts the other processes in which
    the program may have compiled something.
    """

    status: Status
    seconds: float
    exit_code: int | None = None
    left_out: tuple[str, ...] = ()
    reaches_others: bool = False
    unobserved: int = 0


@dataclass(frozen=True, slots=True)
class RanDry(Fact):
    """A dry run: the program ran without data.

    ``device`` is the absent GPU for which the program was compiled, if any, as a key of
    :data:`.devices.DEVICES`. Each of ``unknown`` is a sentence about something that only the real device can
    show, or that this version of torch cannot preview.
    """

    device: str = ""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilesDiscarded(Fact):
    """A run whose file changes are discarded at its end.

    Files that existed before the run do not change. ``by`` is the mechanism: a mount ``namespace``, in which
    the program has its own view of the files. If a namespace is not available, because of ``reason``, Python
    redirects writes, and the kernel refuses all other writes (``landlock`` on Linux, ``sandbox`` on macOS);
    or a hook in Python refuses them, which ends the run (``python``). Writes to the folders in ``read_only``
    fail, because no overlay could cover these folders.
    """

    by: Literal["namespace", "landlock", "sandbox", "python"]
    reason: str = ""
    read_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftBehind(Value):
    """A value, setting or file that differs between two runs.

    ``place`` names the value, setting or file (```LEDGER` of train.py``), ``words`` describe the difference.
    ``of_form`` says that only the type or shape differs.
    """

    place: str
    words: str
    of_form: bool = False


@dataclass(frozen=True, slots=True)
class ResultsCompared(Fact):
    """The comparison of the results of two runs of a program.

    ``difference`` is the first difference (``result of call 2 of `step`: by up to 3.1e-2``), empty if there
    is none. ``calls`` is the number of compared calls of compiled functions; ``seen`` names the compared
    values (``results``, ``gradients``, ``inputs``, ``buffers``, ``random numbers``, ``exceptions``),
    ``unseen`` the values that could not be compared. ``modes`` are the modes of the modules that were called
    (``training``, ``evaluation``), empty if there are no modules. ``repeated`` is the number of compared
    calls that were repeated with gradients or with other values; ``again`` is the first difference between
    repeated calls. ``left`` lists the differences at the end of the program. ``mild`` is the first difference
    that leaves all numbers equal. ``numbers`` has the Python numbers that differ,
    such as measured times. Neither counts as ``difference``.
    """

    calls: int
    difference: str
    seen: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    again: str = ""
    repeated: int = 0
    left: tuple[LeftBehind, ...] = ()
    mild: str = ""
    numbers: tuple[LeftBehind, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementsTried(Fact):
    """The outcome of the :class:`Trial` with the same number.

    ``cases`` is the number of sets of values on which the old and the new statements ran. ``untaken`` are the
    branches of the old statements that no set of values took (``line 7: `b.sum() < 0` was never true``).
    ``difference`` says in which case the statements differ and how, empty if they never do.
    ``depends_on_use`` says that only the type, shape or gradient of a variable differs, or that it has no
    value here: the code that reads the variable decides whether that matters. ``problem`` is one sentence on
    why the trial could not run, or empty. ``mild`` is a difference that leaves all numbers equal: a tensor
    takes the place of a number, has another memory layout, or no longer shares its memory.
    """

    number: int
    cases: int
    untaken: tuple[str, ...] = ()
    difference: str = ""
    problem: str = ""
    depends_on_use: bool = False
    mild: str = ""


SizeOutcome: TypeAlias = Literal[
    "equal", "differs", "compiles-again", "raises", "refused", "unsteady", "unknown", "untried"
]
"""The outcome of a call with another size:

- ``equal``, ``differs``: the result of the compiled function, compared with the same call uncompiled.
- ``compiles-again``: no existing compilation fits this size.
- ``raises``: the compiled call raises an exception, the uncompiled call does not.
- ``refused``: the uncompiled call raises an exception, too.
- ``unsteady``: two uncompiled calls differ, or the call draws random numbers: nothing can be compared.
- ``unknown``: no compiled function has this dimension.
- ``untried``: there was no time, or the calls cannot be repeated.
"""


@dataclass(frozen=True, slots=True)
class SizeTried(Fact):
    """A call of a compiled function with another size, after the end of the program.

    ``place`` is the dimension that has the size (``x.0``); ``along`` are the dimensions that changed with it
    (``y.0``). ``words`` say how results differ, which exception was raised, or why the call was not tried.
    ``asked`` says that the request named the size; the function may then have been compiled for it.
    ``backward`` says that gradients were compared, too.
    """

    function: str
    place: str
    size: int
    outcome: SizeOutcome
    words: str = ""
    along: tuple[str, ...] = ()
    asked: bool = False
    backward: bool = False
