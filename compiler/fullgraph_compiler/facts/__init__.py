"""The shared data model: requests to a worker, and the facts that a run reports.

Frozen dataclasses and their JSON form; standard library only. Both sides of the worker protocol use them.
``fullgraph_server`` imports only this package and ``trace`` from ``fullgraph_compiler``.

- ``registry``: the base classes of facts and values, and their JSON form
- ``requests``: requests to a worker, and the programs that it can run
- ``capture``: Dynamo's frames, graphs, graph breaks, guards, recompilations
- ``code``: forms of a graph, code and kernels of AOTAutograd and TorchInductor
- ``shapes``: conditions on symbolic sizes
- ``caches``: hits, misses and bypasses of the compiler's caches, and their keys
- ``export``: exported programs, and problems that prevent an export
- ``ranks``: facts that should be equal on all ranks of a job
- ``speed``: phases, performance hints, skipped CUDA graphs
- ``vllm``: how vLLM splits and compiles a graph
- ``variants``: other ways to compile a program
- ``calls``: observed calls in a program: arguments, results, changes
- ``outcome``: how a program, its graphs and its repros end
- ``stacks``: frames of a stack
- ``seen``: details of a record that only the observed process knows, as JSON in a log
- ``devices``: GPUs for which a preview can compile without having the GPU
- ``dtypes``: short names of dtypes
"""

# ruff: noqa: F403 - a fact is named once, in its module

from __future__ import annotations

from .caches import *
from .calls import *
from .capture import *
from .code import *
from .devices import *
from .export import *
from .outcome import *
from .ranks import *
from .registry import *
from .requests import *
from .shapes import *
from .speed import *
from .stacks import *
from .variants import *
from .vllm import *
