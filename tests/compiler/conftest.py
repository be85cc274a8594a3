"""What tests of workers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from worker_client import Forks


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """One process that has torch: a worker of its own would import it for each program."""
    with Forks(tmp_path_factory.mktemp("forks")) as started:
        yield started
