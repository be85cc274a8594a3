"""Recurrent layers that torch unrolls into operations for each sequence step."""

from __future__ import annotations

import ast
import re
from typing import Final

from fullgraph_compiler.facts import GraphCaptured, GraphNode, Specialization

from ....workspace.syntax import nodes_of
from ...source_locator import FactLocator
from ..words import row_of

_LAYERS: Final = re.compile(r"[/\\]torch[/\\]nn[/\\]modules[/\\]rnn\.py$")
_DECOMPOSED: Final = re.compile(r"[/\\]torch[/\\]_decomp[/\\]decompositions\.py$")
_UNROLLED: Final = {"gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
"""Operators whose decompositions loop over sequence steps on every device, with their layers.

The decompositions are ``gru_impl``, ``rnn_tanh_input`` and ``rnn_relu_input`` in
``torch/_decomp/decompositions.py`` (2.11 to 2.15). An LSTM is not included, since ``lstm_impl`` can call an
operator of oneDNN instead.
"""
_NUMBERED: Final = re.compile(r"_\d+$")


def unrolled_layer(constant: Specialization, places: FactLocator) -> str:
    """Name the recurrent layer whose unrolling specialized a size: ``nn.GRU``.

    Return an empty string if other code specialized the size.
    """
    stack = constant.stack
    is_unrolled = any(_DECOMPOSED.search(frame.filename) for frame in constant.torch_stack)
    if not (is_unrolled and stack and _LAYERS.search(stack[-1].filename)):
        return ""
    library = places.place(stack, constant.compile_id).library
    return f"nn.{library.function.partition('.')[0]}" if library and "." in library.function else "nn.RNNBase"


def unrolled_nodes(graph: GraphCaptured) -> list[tuple[GraphNode, str]]:
    """List the operations of a graph that torch will unroll, with the layers' names."""
    named = ((node, _NUMBERED.sub("", node.name)) for node in graph.nodes)
    return [
        (node, _UNROLLED[name])
        for node, name in named
        if name in _UNROLLED and f"{node.name} = torch.{name}(" in graph.text
    ]


def allowing_line(compile_id: str, places: FactLocator) -> str:
    """Name the line that sets ``allow_rnn``, in the files that lead to a function.

    Return an empty string if there is no such line.
    """
    function = places.functions.get(compile_id)
    for source in places.sources_around(compile_id):
        for node in nodes_of(ast.Assign, source.tree):
            if any(isinstance(item, ast.Attribute) and item.attr == "allow_rnn" for item in node.targets):
                return row_of(source, node.lineno, function.filename if function else "")
    return ""
