"""The state that all features and commands of a server share."""

from __future__ import annotations

from dataclasses import dataclass

from pygls.lsp.server import LanguageServer

from ..client.configuration import SettingsReader
from ..client.documents import ClientDocuments
from ..client.projection import ProjectionCache
from ..client.targets import TargetRegistry
from ..fixes.proofs import ProofStore
from ..runs.minification import Minifications
from ..runs.plan import RunPlanner
from ..runs.schedule import RunSchedule


@dataclass(frozen=True)
class ServerContext:
    """The documents, settings, targets, runs and reports of a server and its client."""

    server: LanguageServer
    documents: ClientDocuments
    configuration: SettingsReader
    targets: TargetRegistry
    planner: RunPlanner
    runs: RunSchedule
    projections: ProjectionCache
    proofs: ProofStore
    minifications: Minifications
