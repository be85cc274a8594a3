"""Standard LSP methods, a module each: they project finished reports onto documents, and start nothing."""
