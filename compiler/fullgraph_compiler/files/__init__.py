"""Protection of the user's files: a run sees its own writes, and they are discarded at its end."""
