"""The names of requests, notifications, commands and schemes of URIs."""

from __future__ import annotations

from ..analyses.registry import command_of

TARGETS = "fullgraph/targets"
SUGGESTED_TARGETS = "fullgraph/suggestedTargets"
REPORT = "fullgraph/report"
LAYERS = "fullgraph/layers"
PERFORMANCE = "fullgraph/performance"
COUNTERPARTS = "fullgraph/counterparts"
GRAPH_LINES = "fullgraph/graphLines"
AT_LINE = "fullgraph/atLine"
GUARDS = "fullgraph/guards"
INTERPRETER = "fullgraph/interpreter"
INTERPRETERS = "fullgraph/interpreters"
ENVIRONMENT = "fullgraph/environment"
BUG_REPORT = "fullgraph/bugReport"
DEBUG_CONFIGURATION = "fullgraph/debugConfiguration"
DEVICES = "fullgraph/devices"
TOOL = "fullgraph/tool"
STATUS = "fullgraph/status"
OUTPUT = "fullgraph/output"

RUN = "fullgraph.run"
STAGES = command_of("stages")
RECIPES = command_of("recipes")
RECOMPILES = command_of("recompiles")
KERNELS = command_of("kernels")
ASSEMBLY = command_of("build")
READ_TRACE = "fullgraph.readTrace"
TRACE_DIFF = "fullgraph.traceDiff"
MINIFY = command_of("minify")
TRY_FIXES = "fullgraph.tryFixes"
STOP = "fullgraph.stop"
CLEAR = "fullgraph.clear"
RAISE_LIMIT = "fullgraph.raiseLimit"
RUN_ON_SAVE = "fullgraph.runOnSave"
SHOW_RESULTS = "fullgraph.showResults"
ADD_TO_BASELINE = "fullgraph.addToBaseline"
SAVE_TARGET = "fullgraph.saveTarget"

SHOW_EXPLANATION = "fullgraph.showExplanation"
SHOW_TARGET = "fullgraph.showTarget"
SHOW_SOURCE = "fullgraph.showSource"
OPEN_ARTIFACT = "fullgraph.openArtifact"
OPEN_REPRO = "fullgraph.openRepro"

EXPLANATION_SCHEME = "fullgraph-explanation"
PROFILE_SCHEME = "fullgraph-profile"
COMPARISON_SCHEME = "fullgraph-comparison"
KERNEL_SCHEME = "fullgraph-kernel"
