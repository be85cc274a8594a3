"""Functions whose decorators have no effect when Dynamo inlines them.

- ``cached``: functions whose cache Dynamo ignores
- ``nested``: compiled functions that lose their options in compiled code
"""
