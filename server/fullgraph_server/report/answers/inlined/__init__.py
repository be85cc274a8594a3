"""Functions that Dynamo traces without what their decorators do.

- ``cached``: functions whose cache Dynamo ignores
- ``nested``: compiled functions that lose their options in compiled code
"""
