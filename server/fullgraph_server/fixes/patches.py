"""Patches of installed packages: verified edits as a diff with a description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..report.model import Finding
from ..workspace.packages import InstalledPackage, installed_package, is_installed, package_name
from ..workspace.workspace import Workspace
from .changes import counts_of
from .plans import FixPlan
from .search import CandidateVerdict, gain
from .words import safety_words, unified_diff, verdict_words


def patched_package(plan: FixPlan, workspace: Workspace) -> InstalledPackage | None:
    """Return the installed package that a plan edits, or ``None``."""
    names = [name for name in plan.texts if workspace.in_package(name)]
    return installed_package(names[0], workspace.package, tuple(names)) if names else None


COMPILER = ("torch", "triton")
"""The packages that are part of the compiler."""


def unpatchable(name: str, places: Sequence[str], workspace: Workspace) -> str:
    """Say in one sentence why a package cannot be patched; return "" if it can.

    ``places`` are the paths of the package's folders and files.
    """
    if not places:
        return f"There is no package {name} in this environment: give the name that the program imports."
    if any(workspace.contains(place) for place in places):
        return f"{name} is the project's own code: run without --package to look for fixes in it."
    paths = [Path(place) for place in places]
    if archive := next((part for path in paths for part in path.parents if part.is_file()), None):
        return f"{name} is in the zip file {archive}, which cannot be patched: install it as a folder."
    folders = [path for path in paths if path.is_dir()]
    is_source = any(path.suffix == ".py" for path in paths if path.is_file())
    if not is_source and not any(found for folder in folders for found in folder.rglob("*.py")):
        return f"{name} has no Python source, only compiled code, which cannot be patched."
    return ""


def library_of(finding: Finding, workspace: Workspace) -> str:
    """Name the installed package that a finding is about; "" for the user's code."""
    for call in reversed(finding.stack):
        if workspace.contains(call.filename):
            return ""
        name = package_name(call.filename)
        if name not in COMPILER:
            return name if is_installed(call.filename) else ""
    return ""


def patch(plan: FixPlan, package: InstalledPackage, target: str, torch: str) -> Iterator[str]:
    """Yield the lines of a patch, without line ends: a description, then the diff.

    The description says what was verified. The commands ``patch`` and ``git apply`` skip the lines before the
    diff.
    """
    gained = gain(counts_of(plan.base.report), counts_of(plan.last.report))
    yield f"{named(package)}: {gained} in {target}, with torch {torch}"
    yield ""
    for finding, step in plan.steps:
        yield from _step(finding, step, package)
    yield f"Apply it with: patch -p1 -d FOLDER < this file, where FOLDER has {package.name} of this version"
    yield from (
        f"{Path(name).relative_to(package.folder)} was edited since it was installed: "
        "the patch is for the edited file"
        for name in package.edited
    )
    yield ""
    yield from unified_diff(plan.texts, str(package.folder))


def named(package: InstalledPackage) -> str:
    """Name a package with its version, or say that the version is unknown."""
    return f"{package.name} {package.version or 'of an unknown version'}"


def _step(finding: Finding, step: CandidateVerdict, package: InstalledPackage) -> Iterator[str]:
    path = Path(finding.span.filename)
    place = path.relative_to(package.folder) if path.is_relative_to(package.folder) else path
    yield f"{place}:{finding.span.row}: {finding.code} {finding.message}"
    yield f"  {step.fix.title} ({safety_words(step.fix)}): {step.fix.change}"
    yield f"  {verdict_words(step.verdict, step.fix)}"
    yield f"  seen: {step.verdict.basis}"
    yield ""
