"""The context of a server: what all features and commands share."""

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
    """What a server and its client have: their documents, settings, targets, runs and reports."""

    server: LanguageServer
    documents: Documents
    configuration: Configuration
    targets: Targets
    planner: Planner
    runs: Runs
    projections: Projections
    proofs: Proofs
    minifications: Minifications
