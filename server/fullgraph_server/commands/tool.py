"""``fullgraph/tool``: a tool for agents, on the texts that the editor shows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..agents.tool_calls import AgentRuns, ToolCall, ToolError, refusal_text, refuse_odd
from ..agents.tools import TOOLS
from ..client.arguments import misuse, refusal
from ..client.targets import NoTargetReason
from ..features.context import ServerContext
from ..protocol.environment import ToolParams
from ..protocol.names import TOOL
from ..runs.plan import RunPlan


def register(context: ServerContext, engine: AgentRuns) -> None:
    """Register the handler of ``fullgraph/tool``."""

    async def plan(name: str) -> RunPlan:
        found = context.targets.find(name)
        made = None if isinstance(found, NoTargetReason) else await context.planner(found.id)
        if made is None:
            raise ToolError(found.message if isinstance(found, NoTargetReason) else f"{name} is gone.")
        return made

    @context.server.feature(TOOL)
    async def tool(params: ToolParams) -> dict[str, Any]:
        folders = tuple(workspace.root for workspace in context.documents.workspaces())
        if params.name not in TOOLS:
            raise refusal(f"There is no tool {params.name}: the tools are {', '.join(TOOLS)}.")
        if not folders:
            raise refusal("Open a folder first: tools read only files of the workspace.")
        arguments = params.arguments
        try:
            refuse_odd(arguments)
            answering = TOOLS[params.name](ToolCall(engine, folders, plan, lambda _: None), **arguments)
        except ToolError as error:
            raise misuse(refusal_text(error, arguments)) from error
        except TypeError as error:  # only unknown or missing names of arguments: nothing has run yet
            raise misuse(f"{params.name} does not take these arguments: {error}.") from error
        try:
            return asdict(await answering)
        except ToolError as error:
            raise refusal(refusal_text(error, arguments)) from error
        except UnicodeEncodeError as error:  # from a path that no file can have
            raise misuse(f"The arguments of {params.name} are not UTF-8.") from error
