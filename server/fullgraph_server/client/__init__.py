"""What the LSP client is to the server: its documents, settings and capabilities, and its view of reports."""
