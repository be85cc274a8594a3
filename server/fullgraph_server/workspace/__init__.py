"""Files on disk: sources, projects, their configuration, and the targets in them."""
