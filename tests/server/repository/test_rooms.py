"""The rooms of each part of Fullgraph, and which of them import which others (docs/architecture.md).

A new arrow needs a word in the tables here. A room only imports rooms above it in its table: so there are no
circles.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.portable

ROOT = Path(__file__).parents[3]
SERVER = {
    "text": "",
    "kinds": "text",
    "workspace": "text",
    "workers": "workspace text",
    "report": "kinds workspace text",
    "compare": "kinds workspace text report",
    "traces": "workspace text workers report compare",
    "shapes": "workspace text report",
    "analyses": "kinds workspace text report shapes",
    "runs": "workspace text workers report compare traces analyses",
    "fixes": "kinds workspace text workers report analyses runs",
    "protocol": "kinds workspace analyses runs",
    "agents": "kinds workspace text report compare analyses runs fixes",
    "client": "workspace text report compare analyses runs protocol",
    "features": "kinds workspace text report traces analyses runs fixes protocol client",
    "commands": "kinds workspace text workers report compare traces shapes analyses runs fixes protocol "
    "agents client features",
    "server": "text runs fixes protocol agents client features commands",
    "cli": "kinds workspace text workers report compare traces shapes analyses runs fixes protocol agents "
    "features commands server",
}
COMPILER = {
    "facts": "",
    "trace": "facts",
    "compat": "facts trace",
    "processes": "",
    "files": "facts compat",
    "observe": "facts trace compat files",
    "dry_run": "facts trace compat files observe",
    "cases": "facts trace compat processes observe",
    "replay": "facts compat observe cases",
    "preview": "facts compat cases",
    "backends": "facts trace compat observe",
    "capture": "facts trace compat files observe dry_run preview backends",
    "verify": "facts compat processes observe capture",
    "diagnose": "facts trace compat processes observe cases replay capture verify",
    "minify": "facts compat observe cases replay diagnose",
    "measure": "facts compat processes observe verify diagnose",
    "analyses": "facts compat processes observe cases capture verify diagnose minify measure",
    "worker": "facts compat processes files capture verify analyses",
}
PLUGIN = {
    "limits": "",
    "verdict": "limits",
    "observing": "limits verdict",
    "hooks": "limits verdict observing",
    "summary": "verdict hooks",
    "__init__": "observing hooks summary",
}
CLIENT = {
    "protocol": "",
    "shared": "protocol",
    "server": "protocol shared",
    "targets": "protocol shared server",
    "editor": "protocol shared server",
    "actions": "protocol shared server targets",
    "reports": "protocol shared server actions",
    "traces": "protocol shared server targets actions",
    "commands": "protocol shared server targets editor actions reports traces",
    "extension": "shared server targets editor actions reports traces commands",
}
MOST_FILES = 20
_IMPORT_OF_CLIENT = re.compile(r'^(?:import|export|\} from)\b[^;]*?"(\.[^"]+)"', re.MULTILINE | re.DOTALL)


def python_arrows(package: Path) -> Iterator[tuple[str, str, str]]:
    """File, room and imported room of each import within a package, wherever in a file it stands."""
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package.parent).with_suffix("").parts
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [*inside[: -node.level], *(node.module or "").split(".")]
                names = [[*filter(None, base), alias.name] for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [[*(node.module or "").split("."), alias.name] for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name.split(".") for alias in node.names]
            else:
                continue
            for name in names:
                if name[0] == package.name and len(name) > 1 and len(inside) > 1:
                    yield str(path.relative_to(package)), inside[1], name[1]


def client_arrows(source: Path) -> Iterator[tuple[str, str, str]]:
    """The same of the client's files, but for its tests and what these need."""
    for path in sorted(source.rglob("*.ts")):
        inside = path.relative_to(source)
        if path.name.endswith(".test.ts") or inside.parts[0] == "testing":
            continue
        for name in _IMPORT_OF_CLIENT.findall(path.read_text()):
            imported = (path.parent / name).resolve().relative_to(source)
            yield str(inside), Path(inside.parts[0]).stem, imported.parts[0]


PARTS = {
    "server": (SERVER, lambda: python_arrows(ROOT / "server" / "fullgraph_server")),
    "compiler": (COMPILER, lambda: python_arrows(ROOT / "compiler" / "fullgraph_compiler")),
    "plugin": (PLUGIN, lambda: python_arrows(ROOT / "server" / "fullgraph_pytest")),
    "client": (CLIENT, lambda: client_arrows(ROOT / "extension" / "src")),
}


@pytest.mark.parametrize("part", PARTS)
def test_imports_go_one_way(part: str) -> None:
    rooms, arrows = PARTS[part]
    found = [(path, room, imported) for path, room, imported in arrows() if room != imported]
    known = {room: allowed.split() for room, allowed in rooms.items()}
    names_of_package = {"__version__", "__init__"}
    wrong = [
        f"{path} imports {imported}"
        for path, room, imported in found
        if imported not in (*known.get(room, ()), *names_of_package)
    ]
    assert not wrong
    unused = {f"{room} -> {imported}" for room, allowed in known.items() for imported in allowed} - {
        f"{room} -> {imported}" for _, room, imported in found
    }
    assert not unused, "arrows that nothing needs any more"


@pytest.mark.parametrize("part", PARTS)
def test_a_room_imports_those_above_it_alone(part: str) -> None:
    seen: set[str] = set()
    for room, allowed in PARTS[part][0].items():
        assert set(allowed.split()) <= seen, room
        seen.add(room)


@pytest.mark.parametrize(
    "folder", ["server/fullgraph_server", "compiler/fullgraph_compiler", "extension/src"]
)
def test_a_room_has_at_most_some_twenty_files(folder: str) -> None:
    for room in [ROOT / folder, *(path for path in (ROOT / folder).rglob("*") if path.is_dir())]:
        files = [path for path in room.iterdir() if path.suffix in (".py", ".ts")]
        files = [path for path in files if not path.name.endswith(".test.ts")]
        assert len(files) <= MOST_FILES, room


TESTS = [
    path for part in ("server", "compiler", "e2e") for path in (ROOT / "tests" / part).rglob("test_*.py")
]


def test_a_folder_of_tests_has_at_most_some_twenty_files() -> None:
    for folder, count in Counter(path.parent for path in TESTS).items():
        assert count <= MOST_FILES, folder


def test_files_of_tests_have_names_of_their_own() -> None:
    names = Counter(path.name for path in TESTS)
    assert [name for name, count in names.items() if count > 1] == [], "pytest imports them by their names"


PACKAGES = sorted(
    path.parent
    for folder in ("server/fullgraph_server", "compiler/fullgraph_compiler")
    for path in (ROOT / folder).glob("*/**/__init__.py")
)


def _is_entry(path: Path) -> bool:
    return re.search(r"^(ANALYSIS|ENTRY): ", path.read_text(), re.MULTILINE) is not None


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: f"{path.parent.name}.{path.name}")
def test_a_package_lists_its_modules(package: Path) -> None:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    listed = re.findall(r"^- ``(\w+)``: \S", text, re.MULTILINE)
    modules = [path.stem for path in package.glob("*.py") if not path.stem.startswith("__")]
    if package.name == "analyses":  # the entries are found by themselves
        modules = [name for name in modules if not _is_entry(package / f"{name}.py")]
    assert sorted(listed) == sorted(modules)
