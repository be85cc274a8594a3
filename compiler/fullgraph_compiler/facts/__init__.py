"""The shared data model: requests to a worker, and the facts that a run reports.

Frozen dataclasses and their JSON form; standard library only. Both sides of the worker protocol use them. Of
``fullgraph_compiler``, the server imports only this package and ``trace``.

- ``registry``: the bases of facts and values, and their JSON form
- ``requests``: what can be run, and what a worker is asked for
- ``capture``: Dynamo: frames, graphs, graph breaks, guards, recompilations
- ``code``: AOTAutograd and TorchInductor: forms of a graph, code, kernels
- ``shapes``: conditions on symbolic sizes
- ``caches``: hits, misses and bypasses of the compiler's caches, and their keys
- ``export``: exported programs, and what keeps a program from being exported
- ``ranks``: what should be the same on all ranks of a job
- ``speed``: phases, performance hints, skipped CUDA graphs
- ``vllm``: how vLLM splits and compiles a graph
- ``variants``: other ways to compile a program
- ``calls``: calls in a program, observed
- ``outcome``: how a program, its graphs and its repros end
- ``stacks``: frames of a stack
- ``seen``: what only the process knows of a record, in a log
- ``devices``: GPUs that need not be there
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
