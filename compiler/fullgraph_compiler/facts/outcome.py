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
"""The way a run ended; ``timeout`` and ``memory`` name the limit that it exceeded."""


@dataclass(frozen=True, slots=True)
class Failure(Value):
    """The failure of a graph or a program at one stage of the compiler.

    ``error`` is the type name of the exception, or the name of the signal. ``message`` is the first line of
    the exception, or the difference between results. ``phase`` is the pass that fails. ``text`` is the whole
    traceback.
    """

    kind: Literal["error", "accuracy", "crash", "hang"]
    error: str
    message: str
    phase: Literal["forward", "backward"] = "forward"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Drawn(Value):
    """An operation that draws random numbers (``torch.randn_like``), and the user stack of its call."""

    name: str
    stack: Stack


@dataclass(frozen=True, slots=True)
class Noise(Fact):
    """A number of a graph's results that rounding decides: far from ``exact`` (float64), compiled or not."""

    compile_id: str
    dtype: str
    compiled: float
    plain: float
    exact: float


@dataclass(frozen=True, slots=True)
class StageChecked(Fact):
    """The result of a graph, or of the program, at one stage; no ``failure`` if it passes.

    Without a ``compile_id`` it is a run of the whole program:

    - ``uncompiled``
    - ``unwrapped``: the same, but ``torch.compile`` returns each module itself; only if ``uncompiled`` fails
    - ``eager``: Dynamo alone
    - ``compiled``: its own backend, if no stage before fails
    - ``fallback_random``: the same with the random numbers of eager code, if ``compiled`` may differ by them

    Each graph has ``aot_eager``, ``aot_eager_decomp_partition`` and the program's own backend (``inductor``).
    A failure of ``compiled`` with the ``error`` ``Output`` only says that the program printed something else.

    ``otherwise`` describes a difference that goes away in this run of the whole program:

    - ``emulate_precision_casts``: results in half precision differed
    - ``use_numpy_random_stream``: NumPy's random numbers differed
    - ``compiled anew`` (each call is): the program printed something else
    - ``fallback_random``: the random numbers differed that the operations ``drawn`` draw
    """

    stage: str
    compile_id: str
    failure: Failure | None
    seconds: float
    otherwise: str = ""
    drawn: tuple[Drawn, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorFault(Value):
    """An operator of the program's own (``mylib::twice``) that is not what it declares.

    ``said`` is torch's sentence on it.
    """

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class GraphUnchecked(Fact):
    """A captured graph whose stages were not checked; ``reason`` is a clause.

    Without a ``compile_id``, ``reason`` names what else was not checked, as a noun.
    """

    compile_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RerunsSkipped(Fact):
    """The whole program did not run again to look for a cause, because it reaches others."""


@dataclass(frozen=True, slots=True)
class Evidence(Value):
    """A value in two runs of the same code, uncompiled: ``before``, and ``now`` in the call that differs.

    ``name`` is a variable, a function or a setting, where ``stack`` does not show it.
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
"""Why a compiled call is not what it is uncompiled. A graph was reused that does not fit the call:

- ``reused``: what has changed since it was compiled is not known.
- ``branch``, ``loop``: a condition is another one, or a loop ends earlier or later.
- ``called``: an instruction calls another function.
- ``hook``: a hook that was registered later, or removed. Evidence: the hook, then where it was registered.
- ``value``: a variable gets another value, or a function of Python's own returns one.
- ``aliasing``: two inputs have one memory, in one of the calls only, and an instruction writes into it.
- ``setting``: a setting of torch is another one.

Else:

- ``numpy``: functions of NumPy whose translation by torch gives other numbers than NumPy.
- ``numpy-random``: the random numbers of NumPy, which compiled code draws from torch.
- ``cached``: a function whose results ``functools`` keeps, which Dynamo traces all the same.
- ``compiling``: the program asks whether it is being compiled.
- ``wrapped``: what ``torch.compile`` returns for a module is an ``OptimizedModule``. Evidence: the calls that
  returned one.
"""


@dataclass(frozen=True, slots=True)
class Cause(Value):
    """The cause of a difference, as far as runs of the program have shown it.

    ``call`` is the number of the call of ``function`` that differs, ``compiled`` of the one in which its
    graph was compiled; 0 if that is not known, or not the cause. ``caller`` is where the call is made.
    """

    kind: CauseKind
    function: str
    call: int
    compiled: int
    evidence: tuple[Evidence, ...] = ()
    caller: Stack = ()


@dataclass(frozen=True, slots=True)
class SettingFault(Value):
    """A setting of torch that the program chose; with torch's ``default`` the failing graph passes.

    ``value`` and ``default`` are Python expressions.
    """

    name: str
    value: str
    default: str


@dataclass(frozen=True, slots=True)
class FaultLocated(Fact):
    """A fault located between ``passes``, the last stage that passes (or empty), and ``stage``, which fails.

    ``number`` counts the faults of a run from 1. ``compile_id`` is empty for a fault outside of all graphs.
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
    """The operator that misleads the compiler: then, the compiler is not at fault."""
    cause: Cause | None = None
    """Why the whole program differs, if that is known; its evidence has the place."""
    settings: tuple[SettingFault, ...] = ()
    """Settings of the program; with the default of any one of them, the graph passes."""


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
    """The size of the smallest graph so far that fails in the same way, and the effort spent on it."""

    nodes: int
    nodes_at_first: int
    queries: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ReproWritten(Fact):
    """A finished repro; ``stack`` holds the lines of user code that its operations come from.

    ``reproduces`` is whether the file fails in the same way when a fresh interpreter runs it.
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

    ``filenames`` are source files outside of the standard library and of installed packages;
    ``libraries`` are names of modules of installed packages, in the order of their import;
    ``variables`` are the environment variables that the program's own files set.
    """

    filenames: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramRaised(Fact):
    """An exception that the user's program raised itself, not the compiler.

    ``failures`` are the guards that failed if it forbids recompilations. ``hints`` tell how to start it
    instead. ``caught`` is whether it went on.
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

    Without a stack it belongs to the target's file; with ``of_run`` it belongs to the run, not to a file.
    """

    severity: Severity
    message: str
    hints: tuple[str, ...] = ()
    stack: Stack = ()
    of_run: bool = False


@dataclass(frozen=True, slots=True)
class RunFinished(Fact):
    """The last fact of a run: its status, its wall time in seconds, and the exit code if there is one.

    The server measures the time again, with the start of the process: it is what the user waits for.
    ``left_out`` names the parts of the compiler that the program asked for and the run did without.
    ``reaches_others`` is set if the program connected to a server or started another program: these can tell
    that it runs. ``unobserved`` counts the other processes in which it may have compiled something.
    """

    status: Status
    seconds: float
    exit_code: int | None = None
    left_out: tuple[str, ...] = ()
    reaches_others: bool = False
    unobserved: int = 0


@dataclass(frozen=True, slots=True)
class RanDry(Fact):
    """A dry run: the program ran without data, and was compiled for the absent GPU ``device``, if any.

    ``device`` is a key of :data:`.devices.DEVICES`. ``unknown`` are sentences about what only the real device
    can show, and about what this torch cannot preview.
    """

    device: str = ""
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilesDiscarded(Fact):
    """A run whose file changes are discarded at its end: no file that existed before it changes.

    ``by`` is the mechanism: a mount ``namespace``, in which the program has its own view of the files. If
    that is not available, because of ``reason``, Python redirects writes, and the kernel refuses all other
    writes (``landlock`` on Linux, ``sandbox`` on macOS), or Python itself does, which ends the run
    (``python``). Writes to the folders in ``read_only`` fail, because they could not be covered.
    """

    by: Literal["namespace", "landlock", "sandbox", "python"]
    reason: str = ""
    read_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftBehind(Value):
    """What two runs of a program leave in different states, in ``words``: a variable, a setting, a file.

    ``place`` names it (```LEDGER` of train.py``). ``of_form`` says that only its type or shape differs.
    """

    place: str
    words: str
    of_form: bool = False


@dataclass(frozen=True, slots=True)
class ResultsCompared(Fact):
    """What two runs of a program gave back, compared.

    ``difference`` says what differs first (``result of call 2 of `step`: by up to 3.1e-2``), empty if nothing
    does. ``calls`` is the number of compared calls of compiled functions; ``seen`` names what was compared
    (``results``, ``gradients``, ``inputs``, ``buffers``, ``random numbers``, ``exceptions``), ``unseen`` what
    could not be. ``modes`` are those of the modules of the calls (``training``, ``evaluation``), empty if
    they have none. ``repeated`` is the number of compared calls that were made again with gradients or with
    other values; ``again`` says what differs first in these. ``left`` is what differs at the program's
    end.
    """

    calls: int
    difference: str
    seen: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    again: str = ""
    repeated: int = 0
    left: tuple[LeftBehind, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementsTried(Fact):
    """The outcome of a trial.

    ``cases`` is the number of sets of values on which the old and the new statements were run. ``untaken``
    are the branches of the old ones that none of them took (``line 7: `b.sum() < 0` was never true``).
    ``difference`` says in which case they differ and how, empty if they never do. ``depends_on_use`` says
    that this is only of what type or shape a variable is, or that it has no value here: what reads it
    decides whether that matters. ``problem`` is why they could not be tried, as a sentence; else empty.
    """

    number: int
    cases: int
    untaken: tuple[str, ...] = ()
    difference: str = ""
    problem: str = ""
    depends_on_use: bool = False


SizeOutcome: TypeAlias = Literal[
    "equal", "differs", "compiles-again", "raises", "refused", "unsteady", "unknown", "untried"
]
"""What a call with another size has shown:

- ``equal``, ``differs``: the compiled function, against the same call uncompiled.
- ``compiles-again``: nothing that was compiled serves this size.
- ``raises``: compiled it raises an exception, uncompiled not.
- ``refused``: the program itself raises an exception, uncompiled.
- ``unsteady``: two uncompiled calls differ, or the call draws random numbers: nothing can be compared.
- ``unknown``: no compiled function has this dimension.
- ``untried``: there was no time, or the calls cannot be made again.
"""


@dataclass(frozen=True, slots=True)
class SizeTried(Fact):
    """A call of a compiled function with another size, after the end of the program.

    ``place`` is what the size is of (``x.0``), ``along`` what changed with it (``y.0``). ``words`` say how
    results differ, or which exception was raised, or why it was not tried. ``asked`` says that the size was
    asked for: then the function may have been compiled for it. ``backward`` says that gradients were
    compared, too.
    """

    function: str
    place: str
    size: int
    outcome: SizeOutcome
    words: str = ""
    along: tuple[str, ...] = ()
    asked: bool = False
    backward: bool = False
