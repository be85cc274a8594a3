"""Files that ``fullgraph trace`` writes beside its report.

- ``folder``: a folder with the page, and all that the log holds
- ``page``: the page, which opens in a browser
- ``timeline``: a trace for Perfetto
"""
