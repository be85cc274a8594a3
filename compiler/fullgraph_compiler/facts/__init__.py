"""The shared data model: requests to a worker, and the facts that a run reports.

Frozen dataclasses and their JSON form; standard library only. Both sides of the worker protocol use them. Of
``fullgraph_compiler``, the server imports only this package and ``trace``.

- ``requests``: what can be run, and what a worker is asked for
- ``capture``: Dynamo: frames, graphs, graph breaks, guards, recompilations
- ``code``: AOTAutograd and TorchInductor: forms of a graph, code, kernels
- ``shapes``: conditions on symbolic sizes
- ``caches``: hits, misses and bypasses of the compiler's caches, and their keys
- ``export``: exported programs, and what keeps a program from being exported
- ``ranks``: what should be the same on all ranks of a job
- ``speed``: phases, performance hints, skipped CUDA graphs
- ``vllm``: how vLLM splits and compiles a graph
- ``variants``: other ways to compile a program
- ``calls``: calls in a program, observed
- ``outcome``: how a program, its graphs and its repros end
- ``stacks``: frames of a stack
- ``seen``: what only the process knows of a record, in a log
- ``devices``: GPUs that need not be there
- ``dtypes``: short names of dtypes
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from .caches import CacheKeyPart, CacheLookup, CacheName, CacheState, SizesRemembered
from .calls import CallSeen, CallsSeen, TensorSeen, ValueKind, ValueSeen
from .capture import (
    CallsCounted,
    CallsWithoutGraph,
    ClassPlace,
    CompileFailure,
    FailingKernel,
    FrameCompiled,
    FrameInputs,
    FrameSkipped,
    FrameStarted,
    GraphBreak,
    GraphCaptured,
    GraphNode,
    GraphPart,
    GuardFailure,
    GuardInstalled,
    InputTensor,
    LateCompilation,
    LightningCompiled,
    NamedTensor,
    Network,
    Recompile,
    RecompileLimit,
    SizeViolation,
    Symbol,
    TensorsNamed,
)
from .code import (
    Artifact,
    ArtifactKind,
    CodeGenerated,
    Cost,
    Kernel,
    KernelCompiled,
    KernelNode,
    Phase,
    PreviewDeferred,
    RecordText,
    WrittenGraph,
)
from .devices import DEVICES, Device
from .export import (
    DataSymbol,
    ExportFailed,
    ExportProblem,
    ExportProblemKind,
    ProgramExported,
    SizeRange,
)
from .outcome import (
    Cause,
    CauseKind,
    Drawn,
    Evidence,
    Failure,
    FaultLocated,
    FilesDiscarded,
    GraphUnchecked,
    LeftBehind,
    MinifyProgress,
    ModulesLoaded,
    Noise,
    OperatorFault,
    ProgramRaised,
    RanDry,
    RecipeTried,
    ReproWritten,
    RerunsSkipped,
    ResultsCompared,
    RunFinished,
    SettingFault,
    SizeOutcome,
    SizeTried,
    StageChecked,
    StatementsTried,
    Status,
    TargetProblem,
)
from .ranks import (
    Collective,
    CollectivesScheduled,
    GraphsExecuted,
    GraphTraced,
    RuntimeEstimated,
)
from .requests import (
    CHANNEL_LOST,
    COMPILER,
    GIVEN_OPERATIONS,
    PROTOCOL_VERSION,
    AddedSizes,
    CallPlace,
    CallsRequest,
    CompareRequest,
    Depth,
    Dynamic,
    Example,
    ExampleCall,
    Examples,
    Files,
    GivenValue,
    Level,
    MinifyRequest,
    Program,
    PytestNode,
    RunRequest,
    Script,
    SourceText,
    Switches,
    Trial,
    TrialRequest,
)
from .shapes import ShapeGuard, Specialization
from .speed import (
    CompilePhase,
    CudagraphSkip,
    MachineMeasured,
    MemoryHeld,
    MemoryMeasured,
    OperatorCounted,
    PartKind,
    PerformanceHint,
    PhasesTimed,
    SpeedMeasured,
    TimePart,
    TimesMeasured,
)
from .stacks import Severity, Stack, StackFrame
from .variants import CallsTimed, VariantMeasured, VariantName
from .vllm import VllmConfigured, VllmPartCompiled, VllmSplit

__all__ = [
    "CHANNEL_LOST",
    "COMPILER",
    "DEVICES",
    "GIVEN_OPERATIONS",
    "PROTOCOL_VERSION",
    "AddedSizes",
    "Artifact",
    "ArtifactKind",
    "CacheKeyPart",
    "CacheLookup",
    "CacheName",
    "CacheState",
    "CallPlace",
    "CallSeen",
    "CallsCounted",
    "CallsRequest",
    "CallsSeen",
    "CallsTimed",
    "CallsWithoutGraph",
    "Cause",
    "CauseKind",
    "ClassPlace",
    "CodeGenerated",
    "Collective",
    "CollectivesScheduled",
    "CompareRequest",
    "CompileFailure",
    "CompilePhase",
    "Cost",
    "CudagraphSkip",
    "DataSymbol",
    "Depth",
    "Device",
    "Drawn",
    "Dynamic",
    "Evidence",
    "Example",
    "ExampleCall",
    "Examples",
    "ExportFailed",
    "ExportProblem",
    "ExportProblemKind",
    "Fact",
    "FailingKernel",
    "Failure",
    "FaultLocated",
    "Files",
    "FilesDiscarded",
    "FrameCompiled",
    "FrameInputs",
    "FrameSkipped",
    "FrameStarted",
    "GivenValue",
    "GraphBreak",
    "GraphCaptured",
    "GraphNode",
    "GraphPart",
    "GraphTraced",
    "GraphUnchecked",
    "GraphsExecuted",
    "GuardFailure",
    "GuardInstalled",
    "InputTensor",
    "Kernel",
    "KernelCompiled",
    "KernelNode",
    "LateCompilation",
    "LeftBehind",
    "Level",
    "LightningCompiled",
    "MachineMeasured",
    "MemoryHeld",
    "MemoryMeasured",
    "MinifyProgress",
    "MinifyRequest",
    "ModulesLoaded",
    "NamedTensor",
    "Network",
    "Noise",
    "OperatorCounted",
    "OperatorFault",
    "PartKind",
    "PerformanceHint",
    "Phase",
    "PhasesTimed",
    "PreviewDeferred",
    "Program",
    "ProgramExported",
    "ProgramRaised",
    "PytestNode",
    "RanDry",
    "RecipeTried",
    "Recompile",
    "RecompileLimit",
    "RecordText",
    "ReproWritten",
    "RerunsSkipped",
    "ResultsCompared",
    "RunFinished",
    "RunRequest",
    "RuntimeEstimated",
    "Script",
    "SettingFault",
    "Severity",
    "ShapeGuard",
    "SizeOutcome",
    "SizeRange",
    "SizeTried",
    "SizeViolation",
    "SizesRemembered",
    "SourceText",
    "Specialization",
    "SpeedMeasured",
    "Stack",
    "StackFrame",
    "StageChecked",
    "StatementsTried",
    "Status",
    "Switches",
    "Symbol",
    "TargetProblem",
    "TensorSeen",
    "TensorsNamed",
    "TimePart",
    "TimesMeasured",
    "Trial",
    "TrialRequest",
    "ValueKind",
    "ValueSeen",
    "VariantMeasured",
    "VariantName",
    "VllmConfigured",
    "VllmPartCompiled",
    "VllmSplit",
    "WrittenGraph",
    "as_object",
    "from_json",
    "to_json",
]

Fact: TypeAlias = (
    FrameStarted
    | FrameInputs
    | FrameCompiled
    | FrameSkipped
    | GraphCaptured
    | GraphPart
    | GraphTraced
    | CollectivesScheduled
    | RuntimeEstimated
    | GraphsExecuted
    | VllmConfigured
    | VllmSplit
    | VllmPartCompiled
    | TensorsNamed
    | Artifact
    | RecordText
    | CodeGenerated
    | KernelCompiled
    | PreviewDeferred
    | CacheKeyPart
    | CacheLookup
    | SizesRemembered
    | PhasesTimed
    | TimesMeasured
    | MachineMeasured
    | SpeedMeasured
    | VariantMeasured
    | MemoryMeasured
    | PerformanceHint
    | CudagraphSkip
    | GraphBreak
    | GuardInstalled
    | Recompile
    | ShapeGuard
    | Specialization
    | RecompileLimit
    | LateCompilation
    | LightningCompiled
    | ProgramExported
    | ExportProblem
    | ExportFailed
    | CallsCounted
    | CallsWithoutGraph
    | CompileFailure
    | StageChecked
    | GraphUnchecked
    | FaultLocated
    | RecipeTried
    | MinifyProgress
    | ReproWritten
    | RerunsSkipped
    | ResultsCompared
    | StatementsTried
    | CallsSeen
    | SizeTried
    | ModulesLoaded
    | Noise
    | ProgramRaised
    | RanDry
    | FilesDiscarded
    | TargetProblem
    | RunFinished
)


_TAG = "type"
"""The key under which an object carries its class name."""


def to_json(value: Any) -> Any:
    """Convert a value of this package to JSON values; every object carries its class name."""
    if type(value) in _FIELDS:
        return {name: to_json(item) for name, item in as_object(value).items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    return value


def as_object(value: Any) -> dict[str, Any]:
    """Convert the outermost level of a dataclass only, for ``json.dumps(..., default=as_object)``.

    Raises ``TypeError`` for a value of a class that this package does not define.
    """
    cls = type(value)
    names = _FIELDS.get(cls)
    if names is None:
        raise TypeError(f"{cls.__name__} is not of this vocabulary")
    result: dict[str, Any] = {_TAG: cls.__name__}
    for name in names:
        result[name] = getattr(value, name)
    return result


def from_json(value: Any) -> Any:
    """Rebuild a value from the output of :func:`to_json`; arrays become tuples.

    Raises ``ValueError`` for an object whose class name this package does not define.
    """
    if isinstance(value, dict):
        cls = _CLASSES.get(value.get(_TAG, ""))
        if cls is None:
            raise ValueError(f"not a value of this vocabulary: {value.get(_TAG)!r}")
        return cls(**{name: from_json(item) for name, item in value.items() if name != _TAG})
    if isinstance(value, (list, tuple)):
        return tuple(from_json(item) for item in value)
    return value


_CLASSES: dict[str, type[Any]] = {
    name: item for name, item in list(globals().items()) if isinstance(item, type) and is_dataclass(item)
}


_FIELDS: dict[type[Any], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls)) for cls in _CLASSES.values()
}
