"""Run a program under observation and tell what torch.compile did."""
