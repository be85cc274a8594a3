"""What ``torch.export`` met, as findings.

- ``findings``: facts of exports to findings
- ``programs``: exported programs, and the sizes that they accept
- ``conditions``: the code behind a condition, and the variables behind its symbols
"""
