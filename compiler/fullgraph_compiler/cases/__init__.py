"""Cases: graphs with inputs as plain data, read from torch, written as repros, and asked how they fail."""
