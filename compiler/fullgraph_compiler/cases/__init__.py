"""Cases: graphs and inputs as plain data, read from torch, written as repros, and run to find failures."""
