"""The pytest plugin: tests that say what torch.compile may make of them (docs/pytest.md).

Every pytest in an environment that has Fullgraph imports this module: it imports nothing else until a test
uses it.

- ``limits``: what a test asks for
- ``observing``: what is compiled while a test runs, and the parts of it that are judged
- ``verdict``: the comparison of the two
- ``hooks``: the hooks of a suite that has such tests
- ``summary``: what ``pytest --fullgraph`` tells at its end
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .hooks import Hooks
    from .observing import Part

MARKER = "fullgraph(breaks=0, recompiles=0, graphs=None, own_code=False)"
_HOOKS = "fullgraph-hooks"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("fullgraph", "what torch.compile makes of the tests (Fullgraph)")
    group.addoption(
        "--fullgraph",
        action="store_true",
        help="Tell at the end what torch.compile did in all tests: graph breaks and recompilations.",
    )
    group.addoption(
        "--fullgraph-baseline",
        metavar="FILE",
        help="A file of known findings, which are not told. Default: baseline of pyproject.toml.",
    )
    group.addoption(
        "--fullgraph-update-baseline",
        action="store_true",
        help="Write what is found into the baseline.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; begin if all tests are to be observed."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}: fail if torch.compile breaks or compiles again more often than that while the test runs,"
        " captures another number of graphs, or nothing at all; with own_code, breaks in libraries do not"
        " count.",
    )
    if config.option.fullgraph:
        _hooks(config)
        if not hasattr(config, "workerinput"):  # a worker of pytest-xdist
            from .summary import Summary

            config.pluginmanager.register(Summary(config), "fullgraph-summary")
    elif config.option.fullgraph_baseline or config.option.fullgraph_update_baseline:
        raise pytest.UsageError("--fullgraph-baseline and --fullgraph-update-baseline need --fullgraph")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin if a test has the marker."""
    if any(item.get_closest_marker("fullgraph") for item in items):
        _hooks(config)


@pytest.fixture
def fullgraph(request: pytest.FixtureRequest) -> Iterator[Callable[..., Part]]:
    """Judge parts of a test: each is a ``with`` on a call of this with the arguments of the marker."""
    with _hooks(request.config).observed(request.node) as observation:
        yield observation.part


def _hooks(config: pytest.Config) -> Hooks:
    """Return the hooks of a suite that uses the plugin."""
    from .hooks import Hooks

    hooks: Hooks | None = config.pluginmanager.get_plugin(_HOOKS)
    if hooks is None:
        hooks = Hooks(config)
        config.pluginmanager.register(hooks, _HOOKS)
    return hooks
