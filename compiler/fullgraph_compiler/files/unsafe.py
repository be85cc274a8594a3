"""What ends a run before it could change a file."""


class UnsafeWriteError(BaseException):
    """The run ends here: what the program is about to do could change a file. The text says what."""
