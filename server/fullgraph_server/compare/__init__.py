"""Several reports: fingerprints, baselines, comparisons, and merged ranks.

- ``fingerprint``: identifies a finding in different runs
- ``baseline``: a file of accepted findings
- ``comparison``: the differences between two reports
- ``comparison_texts``: the sentences and tables of a comparison, also as Markdown
- ``ranks``: the reports of ranks merged into one; the entry point for ranks
- ``rank_differences``: the differences between ranks, as findings
- ``rank_aspects``: properties that should be equal on all ranks, and sentences about them
- ``rank_order``: the order in which ranks run graphs
- ``rank_files``: a common name for each file whose path differs between ranks
- ``rank_groups``: groups of ranks that are equal up to the first part that differs
- ``rank_places``: source lines of operations that differ
- ``rank_words``: texts that name ranks
"""
