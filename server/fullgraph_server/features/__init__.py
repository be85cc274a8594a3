"""Standard LSP methods, a module each: they show finished reports in documents, and start no run."""
