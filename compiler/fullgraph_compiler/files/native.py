"""The native code that may run if no kernel refuses its writes.

``WRITERS`` lists the functions in this code that write; calls of these end the run. Any other native code
ends the run when it is loaded. A package belongs here if its native code opens files for writing only in
functions that ``WRITERS`` lists.
"""

from __future__ import annotations

from typing import Final

HARMLESS_PACKAGES: Final = frozenset(
    name
    for names in (
        "torch functorch torchgen triton numpy safetensors h5py tokenizers torchvision",
        "pandas sklearn matplotlib kiwisolver contourpy PIL regex _regex yaml _yaml psutil wrapt xxhash",
        "msgpack orjson ujson simplejson zstandard lz4 google markupsafe multidict yarl frozenlist propcache",
        "aiohttp charset_normalizer pydantic_core rpds tornado websockets greenlet coverage",
        "debugpy _pydevd_bundle _pydevd_frame_eval",
    )
    for name in names.split()
)
"""Packages, by top-level name, whose extension modules may be imported."""

REFUSED_MODULES: Final = frozenset(
    name
    for names in (
        "_tkinter _dbm _gdbm _cffi_backend _testcapi _testinternalcapi _testlimitedcapi _testbuffer",
        "_testmultiphase _ctypes_test _testclinic _xxtestfuzz nis _xxsubinterpreters _interpreters",
    )
    for name in names.split()
)
"""Modules of the standard library, and of cffi, whose native code can open any file."""

WRITERS: Final = (
    ("readline", "write_history_file", "write readline's history"),
    ("readline", "append_history_file", "write readline's history"),
    ("ssl", "SSLContext.keylog_filename", "log the keys of its TLS connections"),
    ("h5py.h5f", "create", "create an HDF5 file"),
    ("tokenizers", "Tokenizer.save", "save a tokenizer"),
    ("tokenizers", "models.Model.save", "save the model of a tokenizer"),
    ("PIL.Image", "Image._dump", "dump an image"),
    ("torchvision.io.image", "write_file", "write a file with torchvision"),
    ("torchvision.io.image", "torch.ops.image.write_file", "write a file with torchvision"),
)
"""Functions of allowed modules that write files: module, name in the module, and what the function does."""

CLIB_FUNCTIONS: Final = frozenset(
    name
    for names in (
        "memcpy memmove memset memcmp strlen strcpy strcmp strerror malloc calloc realloc free malloc_trim",
        "mallopt malloc_usable_size getpid getppid gettid getuid geteuid getenv isatty sysconf confstr",
        "sched_getcpu sched_getaffinity sched_setaffinity pthread_self pthread_setname_np prctl",
        "clock_gettime nanosleep usleep sleep time qsort abs labs atoi sqrt pow sin cos exp log floor ceil",
        "printf puts putchar gnu_get_libc_version dl_iterate_phdr",
        "PyThreadState_SetAsyncExc Py_IncRef Py_DecRef PyFrame_LocalsToFast PyObject_ PyCapsule_",
        "PyMemoryView_ PyBuffer_ PyBytes_ PyByteArray_",
        "PyLong_ PyUnicode_ PyDict_ PyList_ PyTuple_ PyGILState_ PyErr_",
        "openblas_ scipy_openblas_ cblas_ omp_ mkl_ MKL_ bli_ flexiblas_",
        "GetStdHandle GetConsoleMode SetConsoleMode GetConsoleScreenBufferInfo SetConsoleTextAttribute",
        "SetConsoleCursorPosition GetConsoleCursorInfo SetConsoleCursorInfo SetConsoleTitleW",
        "FillConsoleOutputAttribute FillConsoleOutputCharacterA FillConsoleOutputCharacterW",
    )
    for name in names.split()
)
"""Functions that a program may look up with ``ctypes``. A name that ends in ``_`` is a prefix."""

QUERIES: Final = frozenset(
    {
        "which",
        "where",
        "ldconfig",
        "lscpu",
        "uname",
        "sysctl",
        "sw_vers",
        "xcrun",
        "brew",
        "nvidia-smi",
        "rocminfo",
    }
)
"""Programs that torch runs to get information about the system."""
