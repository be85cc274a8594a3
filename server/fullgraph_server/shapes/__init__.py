"""The JSON objects of the command line: their keys and values.

- ``shape``: an object as a table of keys, from which its JSON Schema is generated, too
- ``report``: the objects of a report
"""
