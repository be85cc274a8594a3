"""Files that ``fullgraph trace`` writes beside its report.

- ``timeline``: a trace for Perfetto
"""
