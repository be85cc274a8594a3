"""Several reports: fingerprints of findings, baselines, comparisons, and the reports of ranks merged.

- ``fingerprint``: what makes a finding the same in another run
- ``baseline``: a file of known findings
- ``comparison``: what differs between two reports
- ``comparison_texts``: the sentences and tables of a comparison, also as Markdown
- ``ranks``: the reports of ranks as one; the entry point
- ``rank_differences``: what differs between ranks, as findings
- ``rank_aspects``: what should be the same on all ranks, and its words
- ``rank_order``: the order in which ranks run graphs
- ``rank_files``: files that lie elsewhere on each rank, by one name
- ``rank_groups``: groups of ranks up to the first part that differs
- ``rank_places``: the lines of operations that differ
- ``rank_words``: ranks in words
"""
