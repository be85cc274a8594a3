"""Every message of Fullgraph that LSP does not have. Mirrored by ``extension/src/protocol.ts``.

- ``names``: the names of requests, notifications, commands and schemes of URIs
- ``targets``: messages about the programs that can run
- ``runs``: messages about runs: their options, their state, their answers
- ``report``: requests about a report and failures of it; its shape is in `commands/report.py`
- ``lines``: messages about places and lines of source
- ``environment``: messages about the Python of a project, its debugger, bug reports and tools for agents
- ``wire``: LSP with the messages of this room, and how they become JSON

Requests:
    ``fullgraph/targets`` ``TargetsParams`` -> ``TargetItem[]``: the programs that can run.
    ``fullgraph/suggestedTargets`` ``SuggestedTargetsParams`` -> ``SuggestedTargets``: what a file means.
    ``fullgraph/report`` ``ReportParams`` -> ``ReportItem | null``: the report of a target's last run.
    ``fullgraph/performance`` ``TargetParams`` -> ``PerformanceItem | null``: its times, graphs and kernels.
    ``fullgraph/counterparts`` ``CounterpartsParams`` -> ``Location[]``: the places that belong to a place.
    ``fullgraph/graphLines`` ``GraphLinesParams`` -> ``GraphLinesItem[]``: the graph that each line is in.
    ``fullgraph/atLine`` ``AtLineParams`` -> ``AtLineItem``: everything that is known of a line.
    ``fullgraph/guards`` ``GuardsParams`` -> ``GuardItem[]``: the guards of one function of a report.
    ``fullgraph/interpreter`` ``InterpreterParams`` -> ``InterpreterItem``: the Python that runs its targets.
    ``fullgraph/interpreters`` ``InterpretersParams`` -> ``InterpreterItem[]``: the Pythons to choose from.
    ``fullgraph/environment`` ``InterpreterParams`` -> ``string``: that Python and torch, for a bug report.
    ``fullgraph/bugReport`` ``TargetParams`` -> ``BugReportItem``: a failure, for PyTorch's issues.
    ``fullgraph/debugConfiguration`` ``DebugParams`` -> ``DebugItem``: the launch configuration for debugpy.
    ``fullgraph/devices`` -> ``DeviceItem[]``: the GPUs that kernels can be previewed for.
    ``fullgraph/tool`` ``ToolParams`` -> an object: what a tool for agents answers (docs/agents.md).
    ``workspace/textDocumentContent`` (LSP 3.18) for URIs of the schemes ``fullgraph-explanation``,
    ``fullgraph-profile`` and ``fullgraph-comparison``: Markdown, and ``fullgraph-kernel``: generated code and
    graphs, in the language of the file extension.
Notifications of the server, to a client with the capability ``experimental.fullgraphStatus``:
    ``fullgraph/status`` ``StatusParams``: the state of a target has changed.
To a client with the capability ``experimental.fullgraphOutput``; else it goes to standard error:
    ``fullgraph/output`` ``OutputParams``: a program has printed something.
Commands (``workspace/executeCommand``):
    ``fullgraph.run [target, DryRunOptions?]`` -> ``RunSummary``, once the run is over. Other runs:
    ``fullgraph.kernels [target, DryRunOptions?]`` -> ``RunSummary``: stops compilations when TorchInductor
    has written its code.
    The command of each other analysis, as in ``fullgraph.stages [target]`` -> ``RunSummary``: ``analyses/``
    has all. ``document`` of the answer of ``fullgraph.recompiles`` is the profile of recompilations.
    ``fullgraph.readTrace [path or URI, rank?]`` -> ``RunSummary``: makes a trace, or one of its ranks, a
    target, which is read again when it grows.
    ``fullgraph.traceDiff [target, target]`` -> ``string``: the URI of a document that compares two traces.
    ``fullgraph.minify [target, MinifyOptions?]`` -> ``MinifySummary``, once it is over.
    ``fullgraph.stop [target?]``, ``fullgraph.clear [target?]`` -> ``null``; all targets if none is given.
    ``fullgraph.raiseLimit [target]`` -> ``RunSummary``: runs a target again with five times its time limit,
    which it keeps until it is cleared.
    ``fullgraph.runOnSave [target, boolean]`` -> ``null``: whether a target runs again when a file is saved.
    ``fullgraph.addToBaseline [uri]`` -> ``null``: writes a finding, by the URI of its explanation, into the
    project's file of known findings.
    ``fullgraph.saveTarget [target]`` -> ``string``: adds a target to pyproject.toml, by an edit that the
    client makes, and returns its name there.
    A target is named by its id, or by the URI of a file, which means what ``Targets.meant`` says, or of a
    cell of a notebook, with which its program ends from then on.
Commands of the client, used if it lists them in ``experimental.commands.commands``:
    ``fullgraph.showExplanation [uri]``, ``fullgraph.showTarget [target]``,
    ``fullgraph.showSource [Location]``, ``fullgraph.openArtifact [uri]`` (a compiled form of a kernel, beside
    the kernel); a client with ``fullgraph.openRepro [uri]`` opens the repro of a ``MinifySummary`` itself.
In ``Diagnostic.data``: ``FindingData``.
"""
