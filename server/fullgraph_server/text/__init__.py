"""Texts that the editor and terminal share: messages, advice, Markdown, names.

- ``messages``: the sentences of findings
- ``advice``: hints about recompilations
- ``tensor_advice``: hints about tensors that change between calls
- ``hints``: hints about graph breaks, CUDA graphs and modules of Lightning
- ``known_errors``: explanations and hints for errors that end a program, by torch's developers
- ``exports``: the sentences of findings about ``torch.export``
- ``remedies``: advice as data
- ``outlook``: what the compilations of a function show about a value that changed
- ``caches``: components of cache keys, how keys differ, reasons for a bypass
- ``subjects``: the code that breaks a graph, as the user wrote it
- ``source_names``: names of the user's code, from torch's names for the same values
- ``size_expressions``: conditions on sizes, written as in the user's code
- ``devices``: words for dry runs and GPUs
- ``vllm``: the parts of a graph that vLLM compiled, and their sizes
- ``markdown``: Markdown with untrusted text escaped in it
- ``durations``: durations and sizes in the largest unit
- ``visible``: untrusted text on one line, with control characters shown
- ``urls``: URLs without their secrets
- ``tables``: tables of plain text
"""
