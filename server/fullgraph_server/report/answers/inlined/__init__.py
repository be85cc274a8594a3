"""Functions whose decorators have no effect when Dynamo inlines them.

- ``cached``: functions whose cache Dynamo ignores
- ``nested``: compiled functions whose options Dynamo ignores when compiled code calls them
"""
