"""The documents of a report: the stages, the code and the kernels of each graph.

If ``TORCH_COMPILE_DEBUG=1`` writes the same text to a file, the document has the name of that file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from fullgraph_compiler.facts import Artifact, ArtifactKind, RecordText, StackFrame
from fullgraph_compiler.trace.graphs import parse_places

from ..text import devices
from ..workspace.positions import Span
from ..workspace.ranges import line_span
from .kernels import FORMS, by_kernel, launch_words, spans_of
from .lines.kernel_lines import lines_of
from .model import CapturedGraph, GeneratedCode, KernelLaunch, Report

_SUFFIXES: Final = {"triton": "py", "cpp": "cpp", "metal": "metal", "cuda": "cu", "asm": "s"}
_OTHERS: Final = {"ir_": "txt", "inductor_aot_header_code": "h", "inductor_": "json"}
"""Suffixes of artifacts that are not Python code, by the beginning of the artifact's name."""
_COMMENTS: Final = {"py": "#", "llir": ";"}
"""The beginning of a comment, by the suffix of the file; ``//`` for any other suffix."""
_TITLES: Final[dict[ArtifactKind, str]] = {
    "before_pre_grad_graph": "Graph before pre-grad passes",
    "after_pre_grad_graph": "Graph after pre-grad passes",
    "joint_graph": "Joint graph",
    "before_joint_graph": "Graph before joint passes",
    "after_joint_graph": "Graph after joint passes",
    "forward_graph": "Forward graph",
    "backward_graph": "Backward graph",
    "inference_graph": "Inference graph",
    "fx_graph_runnable": "Graph, runnable",
    "fx_graph_readable": "Graph before post-grad passes",
    "fx_graph_transformed": "Graph after post-grad passes",
    "ir_pre_fusion": "IR before fusion",
    "ir_post_fusion": "IR after fusion",
    "inductor_provenance_tracking_node_mappings": "Nodes of graphs and kernels",
    "make_fx_fail_partial": "Graph up to the failure",
    "inductor_aot_header_code": "Header",
}

RECORDS: Final = "records"
"""The phase and the folder of texts in a trace that do not belong to a stage of a graph."""
_NOT_OF_A_NAME: Final = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST_NAME: Final = 100

Rows: TypeAlias = tuple[int, int]
"""The first and the last row, counted from 1."""


@dataclass(frozen=True, slots=True)
class CompilerDocument:
    """A text that the compiler generated from a graph.

    ``name`` is the file name of the document, with folders. ``code`` is set for generated code and for its
    kernels, ``launches`` for a kernel and the kernel's compiled forms (PTX, for example), ``built`` only for
    compiled forms. In the report of a dry run, Fullgraph puts ``header`` rows before kernels and compiled
    forms, which say that nothing ran.
    """

    name: str
    title: str
    text: str
    compile_id: str
    phase: str = ""
    code: GeneratedCode | None = None
    launches: tuple[KernelLaunch, ...] = ()
    built: bool = False
    header: int = 0


@dataclass(frozen=True, slots=True)
class DocumentMark:
    """Rows of a document, with the user's code and the operations that they compute."""

    rows: Rows
    span: Span
    operators: tuple[str, ...] = ()


def documents_of(report: Report) -> list[CompilerDocument]:
    """Return all documents, sorted by compilation and then in the compiler's order."""
    graphs: defaultdict[str, _CompilationForms] = defaultdict(_CompilationForms)
    for export in report.exports:
        graphs[export.compile_id].exported = True
    for graph in report.graphs:
        graphs[graph.compile_id].graphs.append(graph)
    for artifact in report.artifacts:
        graphs[artifact.compile_id].artifacts.append(artifact)
    for code in report.codes:
        graphs[code.compile_id].codes.append(code)
    for record in report.records:
        graphs[record.compile_id].records.append(record)
    documents = (document for name, forms in graphs.items() for document in _of_graph(name, forms))
    return [_with_header(document, report) for document in _with_own_names(documents)]


def marks_of(document: CompilerDocument, report: Report) -> list[DocumentMark]:
    """Return the rows of a document with the user's code that they come from.

    The list is empty for a kernel's compiled form.
    """
    if document.built:
        return []
    if document.launches:
        return _of_kernel(document)
    if document.code is not None:
        return [
            DocumentMark(rows, span)
            for launch in document.code.launches
            for rows in (launch.rows, launch.definition)
            if rows is not None
            for span in launch.spans
        ]
    places = ((row, _line(report, frame)) for row, frame in parse_places(document.text))
    return [DocumentMark((row, row), span) for row, span in places if span is not None]


@dataclass(slots=True)
class _CompilationForms:
    """The graphs, artifacts, generated code and other records of one compilation."""

    graphs: list[CapturedGraph] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    codes: list[GeneratedCode] = field(default_factory=list)
    exported: bool = False
    records: list[RecordText] = field(default_factory=list)


def _of_graph(compile_id: str, forms: _CompilationForms) -> Iterator[CompilerDocument]:
    folder = compile_id.replace("/", "_") or "outside"
    for graph in forms.graphs:
        name, title = (
            ("exported_program.txt", "Exported program")
            if forms.exported
            else ("captured_graph.py", "Captured graph")
        )
        yield CompilerDocument(f"{folder}/{name}", title, graph.text, compile_id)
    phases = (item.phase for items in (forms.artifacts, forms.codes) for item in items)
    for phase in dict.fromkeys([None, *phases]):
        for artifact in forms.artifacts:
            if artifact.phase == phase:
                yield _of_artifact(artifact, folder)
        for code in forms.codes:
            if code.phase == phase:
                yield from _of_code(code, f"{folder}_{phase}")
    for record in forms.records:
        yield _of_record(record, folder)


def _of_artifact(artifact: Artifact, folder: str) -> CompilerDocument:
    lowered = artifact.phase and artifact.kind.startswith(("fx_", "ir_", "inductor_"))
    name = f"{folder}_{artifact.phase}" if lowered else folder
    suffix = next((suffix for start, suffix in _OTHERS.items() if artifact.kind.startswith(start)), "py")
    return CompilerDocument(
        name=f"{name}/{artifact.kind}.{suffix}",
        title=_TITLES[artifact.kind],
        text=artifact.text,
        compile_id=artifact.compile_id,
        phase=artifact.phase or "",
    )


def _of_record(record: RecordText, folder: str) -> CompilerDocument:
    # torch, and libraries that write to torch's trace, choose these names: they can contain any character.
    name = _NOT_OF_A_NAME.sub("_", record.name)[:_LONGEST_NAME]
    suffix = "json" if record.text.startswith(("{", "[")) else "txt"
    title = record.name[:_LONGEST_NAME]
    return CompilerDocument(
        f"{folder}/{RECORDS}/{name}.{suffix}", title, record.text, record.compile_id, RECORDS
    )


def _of_code(code: GeneratedCode, folder: str) -> Iterator[CompilerDocument]:
    name = f"{folder}/output_code.{'py' if code.language == 'python' else code.language}"
    yield CompilerDocument(name, "Output code", code.text, code.compile_id, code.phase, code)
    for name, launches in by_kernel(code).items():
        first = launches[0]
        if first.source:
            suffix = _SUFFIXES.get(first.language, "txt")
            kernel = CompilerDocument(
                name=f"{folder}/{name}.{suffix}",
                title=name,
                text=first.source + "\n",
                compile_id=code.compile_id,
                phase=code.phase,
                code=code,
                launches=tuple(launches),
            )
            yield kernel
            for language, text in first.built.texts if first.built else ():
                file = f"{folder}/{name}.{_SUFFIXES.get(language, language)}"
                title = f"{name}, {FORMS.get(language, language)}"
                yield replace(kernel, name=file, title=title, text=text, built=True)


def _with_own_names(documents: Iterator[CompilerDocument]) -> Iterator[CompilerDocument]:
    """Add numbers to repeated names, which the parts of a split graph have."""
    seen: dict[str, int] = {}
    for document in documents:
        number = seen[document.name] = seen.get(document.name, 0) + 1
        stem, dot, suffix = document.name.rpartition(".")
        yield document if number == 1 else replace(document, name=f"{stem}_{number}{dot}{suffix}")


def _with_header(document: CompilerDocument, report: Report) -> CompilerDocument:
    """Add a header to a kernel of a dry run: nothing ran, and details of the launch."""
    if report.dry is None or not document.launches:
        return document
    begin = _COMMENTS.get(document.name.rpartition(".")[2], "//")
    lines = [devices.sentence(report.dry), *launch_words(document.launches[0])]
    text = "".join(f"{begin} {line}\n" for line in lines)
    return replace(document, text=text + document.text, header=len(lines))


def _of_kernel(document: CompilerDocument) -> list[DocumentMark]:
    """Return the rows of a kernel with the user's code that they compute.

    Code that no single row computes is returned with all rows of the kernel.
    """
    marks = []
    for row, operations in lines_of(document.launches):
        for span in dict.fromkeys(operation.span for operation in operations):
            names = dict.fromkeys(item.operator for item in operations if item.span == span)
            if span is not None:
                at = document.header + row
                marks.append(DocumentMark((at, at), span, tuple(names)))
    marked = {mark.span for mark in marks}
    rows = (document.header + 1, document.text.count("\n"))
    return [*marks, *(DocumentMark(rows, span) for span in spans_of(document.launches) if span not in marked)]


def _line(report: Report, frame: StackFrame) -> Span | None:
    source = report.files.get(frame.filename)
    return line_span(source, frame.row) if source and frame.row <= len(source.lines) else None
