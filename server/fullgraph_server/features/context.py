"""The state that all features and commands of a server share."""

from __future__ import annotations

from dataclasses import dataclass

from pygls.lsp.server import LanguageServer

from ..client.configuration import Configuration
from ..client.documents import Documents
from ..client.projection import Projections
from ..client.targets import Targets
from ..fixes.proofs import Proofs
from ..runs.minification import Minifications
from ..runs.plan import Planner
from ..runs.schedule import Runs


@dataclass(frozen=True)
class Context:
    """The documents, settings, targets, runs and reports of a server and its client."""

    server: LanguageServer
    documents: Documents
    configuration: Configuration
    targets: Targets
    planner: Planner
    runs: Runs
    projections: Projections
    proofs: Proofs
    minifications: Minifications
