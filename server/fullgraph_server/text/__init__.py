"""Texts that the editor and the terminal share: messages, advice, Markdown, names as the user wrote them.

- ``messages``: the sentences of findings
- ``advice``: hints about recompilations
- ``tensor_advice``: those about tensors that change between calls
- ``hints``: hints about graph breaks, CUDA graphs and modules of Lightning
- ``known_errors``: what torch's developers answer to errors that end a program
- ``exports``: the sentences of findings about ``torch.export``
- ``remedies``: what an advice says, as data
- ``outlook``: what the compilations of a function say of a value that changed
- ``caches``: components of cache keys, how keys differ, reasons for a bypass
- ``subjects``: what breaks a graph, as the user wrote it
- ``source_names``: torch's names as the user wrote them
- ``size_expressions``: conditions on sizes as the user wrote them
- ``devices``: words for dry runs and GPUs
- ``vllm``: what vLLM has compiled
- ``markdown``: Markdown with untrusted text escaped in it
- ``durations``: durations and sizes in the largest unit
- ``visible``: untrusted text on one line, with control characters shown
- ``urls``: URLs without their secrets
- ``tables``: tables of plain text
"""
