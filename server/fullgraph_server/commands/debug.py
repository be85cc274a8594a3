"""``fullgraph/debugConfiguration``: how debugpy starts a target or a repro."""

from __future__ import annotations

import json
from pathlib import Path

from fullgraph_compiler.facts import PytestNode, Script, to_json
from lsprotocol import types

from ..analyses.suitability import unsuited
from ..client.messages import show_message
from ..client.targets import NoTargetReason
from ..features.context import ServerContext
from ..protocol.environment import DebugConfiguration, DebugItem, DebugParams
from ..protocol.names import DEBUG_CONFIGURATION
from ..workspace.bundled import worker_script
from ..workspace.own_folder import is_repro, own_folder
from ..workspace.targets import Target
from .interpreter import interpreter_of


def register(context: ServerContext) -> None:
    """Register the handler of ``fullgraph/debugConfiguration``."""

    @context.server.feature(DEBUG_CONFIGURATION)
    async def configure(params: DebugParams) -> DebugItem:
        target = context.targets.find(params.target)
        if isinstance(target, NoTargetReason):
            return DebugItem(problem=target.message)
        if problem := unsuited(target, "debug"):
            return DebugItem(problem=problem)
        uri = context.documents.uri(target.filename)
        python, _ = await interpreter_of(uri, context.documents, context.configuration, target.python)
        folder = _code_folder(target.filename)
        return DebugItem(debug_configuration(target, python.path, folder, params.uncompiled))

    def _code_folder(filename: str) -> Path | None:
        root = context.documents.keeping_root(filename)
        try:
            return own_folder(root, "inductor") if root else None
        except OSError as error:
            message = f"Breakpoints in TorchInductor's code hold for one run only: {error}."
            show_message(context.server, types.MessageType.Warning, message)
            return None


def debug_configuration(
    target: Target, python: str, folder: Path | None, uncompiled: bool
) -> DebugConfiguration:
    """Make a target's launch configuration for debugpy.

    TorchInductor's generated code stays in ``folder``, so that breakpoints in the code hold in later runs.
    """
    program, module = None, None
    if is_repro(target.filename):
        # It must fail in this process, where the debugger sees the failure, rather than only report it.
        program, args = target.filename, ["--raise", "--child"]
    elif isinstance(target.program, Script):
        module, args = target.program.module or None, list(target.program.args)
        program = None if module else target.program.filename
    elif isinstance(target.program, PytestNode):
        # Captured output would appear only after the test.
        module, args = "pytest", ["-s", target.program.node]
    else:
        program, args = worker_script(), ["--examples", json.dumps(to_json(target.program))]
    env = {
        **target.env,
        **({"TORCHINDUCTOR_CACHE_DIR": str(folder)} if folder else {}),
        # The debugger cannot step into code that was compiled in another process.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        # Python does not run the lines of a compiled function, so a breakpoint there would never stop.
        **({"TORCH_COMPILE_DISABLE": "1"} if uncompiled else {}),
    }
    return DebugConfiguration(
        name=f"Fullgraph: {target.label}{' uncompiled' if uncompiled else ''}",
        type="debugpy",
        request="launch",
        args=args,
        cwd=str(target.cwd),
        env=env,
        python=python,
        just_my_code=False,
        # TorchInductor starts small Python processes that detect features of the machine, and waits for them.
        # As subprocesses under the debugger, each would wait for an editor to attach.
        sub_process=False,
        console="integratedTerminal",
        program=program,
        module=module,
    )
