"""Fullgraph inside the user's interpreter: observes torch.compile. Standard library and torch only."""
