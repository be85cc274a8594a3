"""Messages about runs: their options, their state, their answers."""

from __future__ import annotations

import attrs

from ..runs.slot import RunState


@attrs.frozen
class StatusParams:
    """The new state of a target."""

    target: str
    generation: int
    """The number of the last run that began; 0 if no run has begun."""
    stale: bool
    run_on_save: bool
    state: RunState | None = None
    """Absent once the target was cleared."""


@attrs.frozen
class OutputParams:
    """Output that a program has printed."""

    target: str
    label: str
    """The label of the target."""
    generation: int
    """The number of the run."""
    text: str
    """A part of the output, from standard output or standard error."""


@attrs.frozen
class DryRunOptions:
    """Options that make one run a dry run: with tensors that have no data."""

    dry_run: bool | None = None
    device: str | None = None
    """The ``name`` of a ``DeviceItem``: the run is dry, and its kernels are for that GPU."""


@attrs.frozen
class DeviceItem:
    """A GPU for which kernels can be previewed; the machine need not have it."""

    name: str
    gpu: str
    """The name of the GPU, as the driver reports it."""
    description: str
    """Compute capability, SMs, memory."""


@attrs.frozen
class RunSummary:
    """The answer to ``fullgraph.run``."""

    target: str
    status: str
    """The status of the run; ``cancelled`` includes a run that was stopped before it began."""
    findings: int
    compiled: bool = False
    """Whether a function was compiled."""
    ignored: int | None = None
    """The number of findings that comments in the source ignore; absent if there are none."""
    document: str | None = None
    """The URI of a document with the run's result, such as a profile of recompilations."""
    layer: str | None = None
    """The layer that the run made; absent for an ordinary run."""


@attrs.frozen
class MinifySummary:
    """The answer to ``fullgraph.minify``."""

    target: str
    status: str
    """The final status of the minification."""
    nodes: int
    nodes_at_first: int
    queries: int
    seconds: float
    reproduces: bool
    """Whether the repro, run by a fresh interpreter, fails in the same way."""
    message: str
    """A summary in one sentence, which the server has already shown."""
    repro: str | None = None
    """The URI of the repro, if there is one; the smallest repro so far if minifying was stopped."""
