"""The error that ends a run before it could change a file."""


class UnsafeWriteError(BaseException):
    """The error of a program that was about to do something that could change a file.

    The message names the action.
    """
