"""The pytest plugin: limits on graph breaks and recompilations (docs/pytest.md).

Every pytest run in an environment with Fullgraph imports this module. It imports nothing else until a test
uses the plugin.

- ``limits``: the limits that a test sets
- ``observing``: the facts of a test while it runs, and the parts of it that are judged
- ``verdict``: the comparison of facts and limits
- ``hooks``: the hooks of a suite that uses the plugin
- ``summary``: the report at the end of ``pytest --fullgraph``
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .hooks import PytestHooks
    from .observing import TestPart

MARKER = "fullgraph(breaks=0, recompiles=0, graphs=None, own_code=False)"
_HOOKS = "fullgraph-hooks"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("fullgraph", "torch.compile in tests (Fullgraph)")
    group.addoption(
        "--fullgraph",
        action="store_true",
        help="Report the graph breaks and recompilations of all tests at the end.",
    )
    group.addoption(
        "--fullgraph-baseline",
        metavar="FILE",
        help="A file of known findings, which are not reported. Default: baseline of pyproject.toml.",
    )
    group.addoption(
        "--fullgraph-update-baseline",
        action="store_true",
        help="Write the findings into the baseline.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; with ``--fullgraph``, install the hooks and the summary."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}: fail if the test has more graph breaks or recompilations than the marker allows, captures"
        " another number of graphs, or compiles nothing; with own_code, breaks in libraries do not count.",
    )
    if config.option.fullgraph:
        _hooks(config)
        if not hasattr(config, "workerinput"):  # a worker of pytest-xdist
            from .summary import SessionSummary

            config.pluginmanager.register(SessionSummary(config), "fullgraph-summary")
    elif config.option.fullgraph_baseline or config.option.fullgraph_update_baseline:
        raise pytest.UsageError("--fullgraph-baseline and --fullgraph-update-baseline need --fullgraph")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Install the hooks if a test has the marker."""
    if any(item.get_closest_marker("fullgraph") for item in items):
        _hooks(config)


@pytest.fixture
def fullgraph(request: pytest.FixtureRequest) -> Iterator[Callable[..., TestPart]]:
    """Limit a part of a test: a context manager that takes the marker's arguments."""
    with _hooks(request.config).observed(request.node) as observation:
        yield observation.part


def _hooks(config: pytest.Config) -> PytestHooks:
    """Return the plugin's hooks; register them on the first call."""
    from .hooks import PytestHooks

    hooks: PytestHooks | None = config.pluginmanager.get_plugin(_HOOKS)
    if hooks is None:
        hooks = PytestHooks(config)
        config.pluginmanager.register(hooks, _HOOKS)
    return hooks
