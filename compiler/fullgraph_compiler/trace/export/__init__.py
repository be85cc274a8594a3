"""Records of ``torch.export`` and of AOTInductor, which compiles its programs.

- ``reader``: convert records to facts
- ``places``: the places of operations and calls
- ``texts``: torch's texts: exceptions of exports, ranges of sizes
- ``aot``: the C++ code that AOTInductor writes
"""
