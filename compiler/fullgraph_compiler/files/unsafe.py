"""What ends a run before it could change a file."""


class UnsafeWriteError(BaseException):
    """The run ends here: the program was about to do what could change a file, which the text names."""
