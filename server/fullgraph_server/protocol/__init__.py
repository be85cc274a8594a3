"""Fullgraph's messages beyond LSP, mirrored by ``extension/src/protocol.ts``.

- ``names``: the names of requests, notifications, commands and URI schemes
- ``targets``: messages about the programs that can run
- ``runs``: messages about runs: their options, their state, their answers
- ``report``: requests about a report and its failures; `commands/report.py` has the shape of a report
- ``lines``: messages about places and lines of source
- ``environment``: messages about a project's Python, debugging, bug reports and tools for agents
- ``wire``: LSP with the messages of this package, and their JSON

Requests:
    ``fullgraph/targets`` ``TargetsParams`` -> ``TargetItem[]``: the programs that can run.
    ``fullgraph/suggestedTargets`` ``SuggestedTargetsParams`` -> ``SuggestedTargets``: targets for a file.
    ``fullgraph/report`` ``ReportParams`` -> ``ReportItem | null``: the report of a target's last run.
    ``fullgraph/performance`` ``ReportParams`` -> ``PerformanceItem | null``: a report's times and kernels.
    ``fullgraph/counterparts`` ``CounterpartsParams`` -> ``Location[]``: the places that match a place.
    ``fullgraph/graphLines`` ``GraphLinesParams`` -> ``GraphLinesItem[]``: the graph of each line.
    ``fullgraph/atLine`` ``AtLineParams`` -> ``AtLineItem``: everything known about a line.
    ``fullgraph/guards`` ``GuardsParams`` -> ``GuardItem[]``: the guards of one function of a report.
    ``fullgraph/interpreter`` ``InterpreterParams`` -> ``InterpreterItem``: the Python that runs a file.
    ``fullgraph/interpreters`` ``InterpretersParams`` -> ``InterpreterItem[]``: the Pythons to choose from.
    ``fullgraph/environment`` ``InterpreterParams`` -> ``string``: the environment report of a Python.
    ``fullgraph/bugReport`` ``TargetParams`` -> ``BugReportItem``: a failure as an issue for PyTorch.
    ``fullgraph/debugConfiguration`` ``DebugParams`` -> ``DebugItem``: the launch configuration for debugpy.
    ``fullgraph/devices`` -> ``DeviceItem[]``: the GPUs for which kernels can be previewed.
    ``fullgraph/tool`` ``ToolParams`` -> an object: the answer of a tool for agents (docs/agents.md).
    ``workspace/textDocumentContent`` (LSP 3.18) for URIs of the schemes ``fullgraph-explanation``,
    ``fullgraph-profile`` and ``fullgraph-comparison``: Markdown, and ``fullgraph-kernel``: generated code and
    graphs, in the language of the file extension.
Notifications of the server, to a client with the capability ``experimental.fullgraphStatus``:
    ``fullgraph/status`` ``StatusParams``: the state of a target has changed.
Notifications of the server, to a client with the capability ``experimental.fullgraphOutput``:
    ``fullgraph/output`` ``OutputParams``: a program has printed something. For any other client, the output
    goes to the server's standard error.
Commands (``workspace/executeCommand``):
    ``fullgraph.run [target, DryRunOptions?]`` -> ``RunSummary``, once the run is over.
    ``fullgraph.kernels [target, DryRunOptions?]`` -> ``RunSummary``: stops compilations when TorchInductor
    has written its code.
    Each other analysis in ``analyses/`` has its own command, such as ``fullgraph.stages [target]`` ->
    ``RunSummary``. In the answer of ``fullgraph.recompiles``, ``document`` is the URI of the profile.
    ``fullgraph.readTrace [path or URI, rank?]`` -> ``RunSummary``: makes a trace, or one of its ranks, a
    target, which is reread when it grows.
    ``fullgraph.traceDiff [target, target]`` -> ``string``: the URI of a document that compares two traces.
    ``fullgraph.minify [target, MinifyOptions?]`` -> ``MinifySummary``, once minifying is over.
    ``fullgraph.stop [target?]``, ``fullgraph.clear [target?]`` -> ``null``; without a target, all targets.
    ``fullgraph.raiseLimit [target]`` -> ``RunSummary``: reruns a target with five times its time limit,
    which holds until the target is cleared.
    ``fullgraph.runOnSave [target, boolean]`` -> ``null``: sets whether saving a file reruns a target.
    ``fullgraph.addToBaseline [uri]`` -> ``null``: writes a finding, by the URI of its explanation, into the
    project's file of known findings.
    ``fullgraph.saveTarget [target]`` -> ``string``: adds a target to pyproject.toml, by an edit that the
    client makes, and returns its name there.
    A target is named by its id or by a URI. The URI of a file stands for the target that
    ``TargetRegistry.meant`` returns. The URI of a notebook cell stands for the notebook's program, which ends
    with that cell from then on. Commands of the client, used if the client lists them in
    ``experimental.commands.commands``: ``fullgraph.showExplanation [uri]``, ``fullgraph.showTarget
    [target]``, ``fullgraph.showSource [Location]``, ``fullgraph.openArtifact [uri]`` (a compiled form of a
    kernel, next to the kernel); a client with ``fullgraph.openRepro [uri]`` itself opens the repro of a
    ``MinifySummary``. In ``Diagnostic.data``: ``FindingData``.
"""
