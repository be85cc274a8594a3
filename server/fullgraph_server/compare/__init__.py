"""Several reports: fingerprints of findings, baselines, two reports compared, many ranks as one.

- ``fingerprint``: what makes a finding the same in another run
- ``baseline``: a file of known findings
- ``comparison``: what differs between two reports
- ``comparison_markdown``: a comparison as Markdown
- ``ranks``: reports of ranks as one, and what differs
"""
