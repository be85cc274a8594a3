"""What can be run, and how a worker is asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

PROTOCOL_VERSION = 1
"""Goes up when a message between the server and a worker changes its meaning."""

CHANNEL_LOST = 113
"""The exit code of a worker whose program has closed the connection between the two."""


Depth: TypeAlias = Literal[
    "graph", "recompiles", "late-compile", "kernels", "build", "times", "stages", "recipes"
]
"""How far a run goes: ``graph``, Dynamo alone (captured graphs run eagerly); ``recompiles``, the same with
one compilation kept of each frame, so that every change of a guarded value compiles again; ``late-
compile``, the same without a compilation after the warm-up; ``kernels``, until TorchInductor has written
its code (graphs run eagerly too); ``build``, all of the compiler, and what it makes runs; ``times``, the
same twice, to see what caches save; ``stages``, step by step; ``recipes``, all of it with one part off
after the other."""


@dataclass(frozen=True, slots=True)
class Script:
    """A file that runs as ``__main__``."""

    filename: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PytestNode:
    """A pytest node id: ``tests/test_model.py::test_forward``, absolute or relative to cwd."""

    node: str


GIVEN_OPERATIONS = ("item", "nonzero", "masked_select")
"""The operations whose outcome an example call can give for a run without data."""


@dataclass(frozen=True, slots=True)
class GivenValue:
    """What an operation is taken to find at a line of the file where there is no data.

    Of ``item``, that is the number; of the others, how many elements there are.
    """

    operation: str
    row: int
    value: int | float | bool


@dataclass(frozen=True, slots=True)
class ExampleCall:
    """One step of an example: source text, and the place in the file where it stands.

    ``values`` stand in for those that a dry run does not have.
    """

    source: str
    row: int
    column: int = 0
    values: tuple[GivenValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """The example calls of one function, method or class, run in order.

    ``qualname`` names the thing as it is reached from its module: ``f``, ``Block``,
    ``Block.step``.
    """

    qualname: str
    calls: tuple[ExampleCall, ...]


@dataclass(frozen=True, slots=True)
class Examples:
    """Example calls of one file; the module is imported, not run as ``__main__``."""

    filename: str
    examples: tuple[Example, ...]


Program: TypeAlias = Script | PytestNode | Examples


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file, where it is not the one on disk."""

    filename: str
    text: str


Dynamic: TypeAlias = Literal["on", "off", "automatic"]
"""Dynamic shapes: from the first call, never, or from the second call on where a size has changed."""


Files: TypeAlias = Literal["keep", "discard"]
"""What becomes of the files that a program writes: they are there afterwards, or gone with the run."""


@dataclass(frozen=True, slots=True)
class Switches:
    """What a run does otherwise than the program says; the defaults leave it alone.

    ``dynamic`` and ``recompile_limit`` take the place of torch's settings. ``only`` is a regular expression:
    frames of functions with other names run eagerly. ``cold_caches`` compiles everything anew. With
    ``cpp_stacks``, shape guards tell which C++ code added them, which takes long. At depth ``late-compile``, a
    compiled function may compile in its first ``warm_up`` calls. A ``dry_run`` has tensors without data; with
    a ``device`` (a key of :data:`.devices.DEVICES`), for which it writes kernels, a run is dry. ``files`` is
    ``None`` where nobody has said what becomes of the files that the program writes.
    """

    dynamic: Dynamic | None = None
    recompile_limit: int | None = None
    only: str = ""
    cold_caches: bool = False
    cpp_stacks: bool = False
    warm_up: int = 1
    dry_run: bool = False
    device: str = ""
    files: Files | None = None

    @property
    def without_data(self) -> bool:
        """Whether the run is a dry one."""
        return self.dry_run or bool(self.device)

    @property
    def discards_files(self) -> bool:
        """Whether no file that the program writes is there after the run, and none of the others changed."""
        return self.without_data or self.files == "discard"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Asks a worker to run one program once, under observation; it sees the texts in place of files.

    A run that goes further than ``graph`` keeps compiled kernels in the folder ``cache``, if one is named,
    and gives up on a graph that takes longer than ``patience`` seconds. Of ``recipes``, a try that uses more
    than ``memory`` bytes has failed. ``variables`` are added to the environment before the program runs: what
    differs between the processes of one program, which start from the same warm state. ``meeting`` is a
    folder in which these find each other, to share the files that they write and that are discarded.
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


Level: TypeAlias = Literal["dynamo", "aot"]
"""Where a graph is taken from: what Dynamo hands to a backend, or what AOTAutograd hands to TorchInductor."""


@dataclass(frozen=True, slots=True)
class MinifyRequest:
    """Asks a worker to shrink a failure of one program to a repro.

    ``failure`` is the number of a ``FaultLocated``, ``compile_id`` that of the graph whose fault is meant; 0
    and empty mean the first one. The best repro so far is always in ``output``, a file's absolute path;
    answers of earlier queries and compiled kernels are kept in the folder ``cache``, if one is named.
    ``level`` is the form of the repro: ``None`` chooses the one that suits the stage. A graph hangs if it
    takes longer than ``patience`` seconds. With ``discards_files`` the program changes no file as it runs.
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
