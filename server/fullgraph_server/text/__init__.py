"""Texts that the editor and terminal share: messages, advice, Markdown, names.

- ``messages``: the sentences of findings
- ``advice``: hints about recompilations
- ``tensor_advice``: hints about tensors that change between calls
- ``hints``: hints about graph breaks, CUDA graphs and modules of Lightning
- ``known_errors``: explanations and hints, by torch's developers, for errors that end a program
- ``exports``: the sentences of findings about ``torch.export``
- ``remedies``: advice as data
- ``outlook``: what the compilations of a function show about a value that changed
- ``caches``: components of cache keys, how keys differ, reasons for a bypass
- ``subjects``: the code that breaks a graph, as the user wrote it
- ``source_names``: names of values in the user's code, from torch's names for the values
- ``size_expressions``: conditions on sizes, written as in the user's code
- ``devices``: phrases for dry runs and GPUs
- ``vllm``: the parts of a graph that vLLM compiled, and their sizes
- ``markdown``: Markdown with untrusted text, escaped
- ``durations``: durations and sizes in a unit that fits their magnitude
- ``visible``: untrusted text on one line, with control characters escaped
- ``urls``: URLs without their secrets
- ``tables``: tables of plain text
"""
