"""The language server with all features, over LSP on standard input and output."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from . import __version__
from .agents.tool_calls import AgentRuns
from .client.compiled_files import CompiledFiles
from .client.configuration import SettingsReader
from .client.documents import ClientDocuments
from .client.messages import RunMessages
from .client.notebook_protocol import SYNC, NotebookProtocol
from .client.planner import create_planner
from .client.program_output import program_output
from .client.progress import ProgressDisplay, StatusNotifications
from .client.projection import ProjectionCache
from .client.refresh import RefreshRequests
from .client.shown_text import create_shown_converter
from .client.targets import TargetRegistry
from .commands import (
    at_line,
    baseline,
    bug_report,
    debug,
    devices,
    fix,
    graph_lines,
    interpreter,
    list_targets,
    minify,
    performance,
    report,
    rerun_on_edit,
    run,
    save_target,
    tool,
    traces,
)
from .features import (
    artifacts,
    code_action,
    code_lens,
    completion,
    content,
    diagnostics,
    explanation,
    hover,
    inlay_hint,
    kernels,
    profile,
)
from .features.context import ServerContext
from .features.fix_actions import FixActions
from .features.ignore_comment import ignorable_codes
from .features.seen_calls import SeenCallActions
from .fixes.proofs import ProofStore
from .fixes.rules.catalogue import candidates
from .protocol.names import COMPARISON_SCHEME, EXPLANATION_SCHEME, KERNEL_SCHEME, PROFILE_SCHEME
from .runs.choice import TargetChoice
from .runs.minification import Minifications
from .runs.schedule import RunSchedule
from .text.urls import LogFormatter

_log = logging.getLogger(__name__)
_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class FullgraphServer(LanguageServer):
    """A pygls server that logs its internal errors and hides them from the user."""

    protocol: NotebookProtocol

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Log an error; if it is a message that is not JSON, also answer the message.

        pygls itself answers messages that lead to other errors.
        """
        _log.error("%s: %s", source.__name__, error)
        if source is JsonRpcException and not isinstance(error, OSError):
            self.protocol.refuse_text(error)


def create_server() -> FullgraphServer:
    """Create a server with all its features, not yet connected."""
    server = FullgraphServer(
        "fullgraph",
        __version__,
        notebook_document_sync=SYNC,
        protocol_cls=NotebookProtocol,
        converter_factory=create_shown_converter,
    )
    documents = ClientDocuments(server)
    configuration = SettingsReader(server)
    compiled = CompiledFiles()
    targets = TargetRegistry(documents, compiled)
    choice = TargetChoice()
    shown = diagnostics.DiagnosticPublisher(server, documents, choice)
    explanations = explanation.ExplanationDocuments(server)
    planner = create_planner(targets, documents, configuration)
    proofs = ProofStore(planner, candidates)
    runs = RunSchedule(
        planner,
        (
            proofs,
            shown,
            compiled,
            ProgressDisplay(server),
            StatusNotifications(server),
            RunMessages(server),
            RefreshRequests(server, "code_lens"),
            RefreshRequests(server, "inlay_hint"),
            explanations,
        ),
        choice,
        program_output(server),
    )

    proofs.connect(runs)
    minifications = Minifications(planner, runs, documents.keeping_root)
    projections = ProjectionCache(runs, documents)
    context = ServerContext(
        server, documents, configuration, targets, planner, runs, projections, proofs, minifications
    )
    artifact_documents = artifacts.ArtifactDocuments()
    kernel_places = kernels.CodeMap(documents, runs, artifact_documents)
    fix_actions = FixActions(server, documents, runs, proofs)
    seen_calls = SeenCallActions(documents, runs.reports)
    agent_runs = AgentRuns()
    for module in (
        *(inlay_hint, run, minify, list_targets, interpreter, graph_lines, fix, traces),
        *(baseline, save_target, bug_report, debug, devices),
    ):
        module.register(context)
    rerun_on_edit.register(context, shown)
    diagnostics.register(context, shown)
    report.register(context, artifact_documents)
    performance.register(context, artifact_documents)
    hover.register(context, kernel_places, fix_actions)
    at_line.register(context, kernel_places, fix_actions)
    code_lens.register(context, kernel_places)
    kernels.register(context, kernel_places)
    code_action.register(context, seen_calls, fix_actions)
    completion.register(
        context, seen_calls, lambda filename, row: ignorable_codes(documents, runs.reports(), filename, row)
    )
    content.register(
        context,
        {
            EXPLANATION_SCHEME: lambda uri: explanations.read(uri, documents, runs, fix_actions.outcome),
            COMPARISON_SCHEME: lambda uri: traces.read_comparison(uri, documents, runs),
            PROFILE_SCHEME: lambda uri: profile.read_profile(uri, documents, runs),
            KERNEL_SCHEME: artifact_documents.text,
        },
    )
    tool.register(context, agent_runs)
    _register_lifetime(context, agent_runs)
    return server


def main() -> None:
    """Serve one client until it disconnects."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    # Warnings of pygls are harmless, for example that a cancelled request was answered meanwhile.
    logging.getLogger("pygls").setLevel(logging.ERROR)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_traceback_of_refusals)
        handler.setFormatter(LogFormatter(_LOG_FORMAT))
    stdout = sys.stdout.buffer
    # Standard output is for the protocol only: everything else that is printed goes to the log.
    sys.stdout = sys.stderr
    server = create_server()
    # Garbage collections skip the imported modules: scanning them would delay requests by 50 ms.
    gc.freeze()
    server.start_io(sys.stdin.buffer, stdout)


def _without_traceback_of_refusals(record: logging.LogRecord) -> bool:
    """Drop the traceback of a refused request from the log; pass every record.

    The message of the refusal is enough.
    """
    if record.exc_info and isinstance(record.exc_info[1], JsonRpcException):
        record.exc_info = None
    return True


def _register_lifetime(context: ServerContext, agent_runs: AgentRuns) -> None:
    async def close() -> None:
        await context.minifications.close()
        await context.proofs.close()
        await agent_runs.close()
        await context.runs.close()

    async def terminate() -> None:
        await close()
        # Not sys.exit: it would wait for the thread that reads standard input, which cannot be woken.
        os._exit(0)

    @context.server.feature(types.INITIALIZE)
    async def initialize(params: types.InitializeParams) -> None:
        context.configuration.initialize(params.initialization_options)
        if sys.platform != "win32":
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, lambda: loop.create_task(terminate()))

    @context.server.feature(types.SHUTDOWN)
    async def shutdown(_params: None) -> None:
        await close()
