"""Files that ``fullgraph trace`` writes in addition to its report.

- ``folder``: a folder with the page, every document, and the records of the log
- ``page``: the page, which opens in a browser
- ``timeline``: a trace for Perfetto
"""
