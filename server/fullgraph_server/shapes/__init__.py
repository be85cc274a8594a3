"""The JSON objects of the command line: their keys, and the values of these.

- ``shape``: an object as a table of keys, which also gives its JSON Schema
- ``report``: the objects of a report
"""
