"""The JSON objects of the command line: their keys and values.

- ``shape``: tables of keys that describe objects, and from which JSON Schemas are generated
- ``report``: the objects of a report
"""
