"""Several reports: fingerprints of findings, baselines, comparisons, and the reports of ranks merged.

- ``fingerprint``: what makes a finding the same in another run
- ``baseline``: a file of known findings
- ``comparison``: what differs between two reports
- ``comparison_markdown``: a comparison as Markdown
- ``ranks``: reports of ranks as one, and what differs
"""
