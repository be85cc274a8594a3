"""Records of ``torch.export``, and of AOTInductor for exported programs.

- ``reader``: conversion of records to facts
- ``places``: the places of operations and calls
- ``texts``: torch's messages: exceptions of exports, ranges of sizes
- ``aot``: the C++ code that AOTInductor writes
"""
