"""Several reports: fingerprints of findings, baselines, two reports compared, many ranks as one."""
