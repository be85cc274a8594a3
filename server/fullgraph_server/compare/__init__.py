"""Several reports: fingerprints of findings, baselines, comparisons, and the reports of ranks merged."""
