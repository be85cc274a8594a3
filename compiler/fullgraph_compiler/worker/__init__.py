"""The process that runs user code: JSON-RPC on private descriptors."""
