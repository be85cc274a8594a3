"""The error that ends a run before it could change a file."""


class UnsafeWriteError(BaseException):
    """The program was about to do something that could change a file.

    The message says what.
    """
