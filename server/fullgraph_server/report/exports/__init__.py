"""What ``torch.export`` met, as findings.

- ``findings``: facts of exports to findings
- ``conditions``: the code behind a condition, and the variables behind its symbols
"""
