"""Commands (``fullgraph.*``) and requests (``fullgraph/*``) of Fullgraph's own, a module each."""
