"""Effects of functions whose source is not read.

These are builtins, and functions of the standard library, torch and NumPy.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Effect: TypeAlias = Literal["fresh", "holds", "views", "changes", "draws", "outside", "unknown"]
"""The effect of a function:

- ``fresh``: the result shares no memory with the arguments.
- ``holds``: the result may be or contain the arguments.
- ``views``: the result may share the memory of the first argument.
- ``changes``: the function changes its first argument and returns it.
- ``draws``: the function draws random numbers.
- ``outside``: the function reads or writes files, the terminal, the clock or the state of the process.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE_MODULES: Final = _words(
    "torch math cmath json struct hashlib hmac zlib binascii base64 re itertools functools operator "
    "collections string statistics fractions decimal numbers copy textwrap unicodedata difflib html typing "
    "dataclasses enum bisect heapq array numpy scipy types contextlib abc ast colorsys bz2 lzma gzip "
    "__future__ torchvision einops skimage sklearn"
)
"""Modules whose functions have no effects except those listed in the tables below."""
DRAWING_MODULES: Final = _words("random secrets uuid numpy.random scipy.stats")
OUTSIDE_MODULES: Final = _words(
    "os sys time datetime pathlib io shutil tempfile glob subprocess socket logging warnings threading "
    "multiprocessing queue sqlite3 pickle shelve urllib requests csv configparser signal atexit gc locale "
    "platform getpass inspect importlib"
)
_OF_PATHS: Final = _words(
    "os.path.join os.path.basename os.path.dirname os.path.splitext os.fspath time.struct_time "
    "datetime.timedelta datetime.date datetime.datetime pathlib.PurePath io.BytesIO io.StringIO pickle.loads "
    "pickle.dumps logging.getLogger csv.reader"
)
"""Functions of ``OUTSIDE_MODULES`` that only compute."""

VIEWS: Final = _words(
    "view view_as reshape reshape_as flatten unflatten ravel squeeze unsqueeze transpose t T mT H mH "
    "permute movedim moveaxis swapaxes swapdims expand expand_as broadcast_to broadcast_tensors narrow "
    "select split split_with_sizes chunk unbind tensor_split array_split hsplit vsplit dsplit diagonal "
    "unfold as_strided detach from_numpy as_tensor asarray asanyarray ascontiguousarray atleast_1d "
    "atleast_2d atleast_3d real imag view_as_real view_as_complex contiguous to type type_as conj "
    "resolve_conj resolve_neg positive numpy cpu cuda float double half bfloat16 int long short bool byte "
    "data data_ptr storage untyped_storage expand_dims rollaxis frombuffer from_dlpack to_dlpack values "
    "items keys get indices dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout "
    "as_subclass rename refine_names align_to requires_grad_ meshgrid rearrange nan_to_num to_dense grad "
    "rot90 slice_scatter ctypes memoryview astype __getitem__"
)
"""Functions and methods whose result may share memory with their first argument or receiver."""
CHANGES: Final = _words(
    "append extend insert remove pop clear sort reverse update setdefault popitem add discard appendleft "
    "popleft extendleft rotate heappush heappop heapify heapreplace heappushpop insort insort_left "
    "insort_right fill put itemset setflags resize partition copyto putmask place fill_diagonal "
    "put_along_axis set add_module register_buffer register_parameter register_forward_hook register_hook "
    "load_state_dict step zero_grad train eval setattr delattr __setitem__ __setattr__ __delitem__ next send "
    "read readline readlines write writelines seek"
)
"""Functions and methods that change their first argument or receiver. Names that end in ``_`` have this
effect without being listed."""
OF_LISTS_ONLY: Final = _words("add sort update put set resize fill partition reverse step get real imag")
"""Names in ``CHANGES`` that are also methods of tensors; the tensor methods change nothing."""
NUMBERS: Final = _words(
    "shape dtype device ndim size numel stride layout requires_grad is_leaf is_cuda itemsize nbytes names "
    "training is_floating_point"
)
"""Attributes of tensors that do not share the tensor's memory."""
PLAIN_DECORATORS: Final = _words(
    "lru_cache cache wraps no_grad inference_mode enable_grad set_grad_enabled staticmethod classmethod "
    "property disable compile singledispatch contextmanager custom_op"
)
"""Decorators that do not change the effects of a function."""
_BUILTINS: Final[dict[str, Effect]] = {
    **dict.fromkeys(
        _words(
            "abs all any ascii bin bool bytearray bytes callable chr complex divmod float format hasattr "
            "hash hex int isinstance issubclass len oct ord pow range repr round slice str sum type id"
        ),
        "fresh",
    ),
    **dict.fromkeys(
        _words(
            "dict enumerate filter frozenset getattr iter list map max memoryview min reversed set sorted "
            "tuple zip super object property"
        ),
        "holds",
    ),
    **dict.fromkeys(_words("next setattr delattr"), "changes"),
    **dict.fromkeys(
        _words("print open input exec eval compile globals locals vars breakpoint __import__ exit quit"),
        "outside",
    ),
}
_RANDOM: Final = _words(
    "rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial poisson "
    "rrelu gumbel_softmax dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout "
    "normal_ uniform_ random_ bernoulli_ exponential_ geometric_ cauchy_ "
    "log_normal_ rsample sample xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ "
    "trunc_normal_ orthogonal_ sparse_"
)
_OUTSIDE_OF_TORCH: Final = (
    "set_",
    "get_",
    "initial_seed",
    "manual_seed",
    "seed",
    "save",
    "load",
    "use_deterministic",
    "_set",
)


def of_builtin(name: str) -> Effect:
    """Return the effect of a builtin.

    A capitalized builtin, such as an exception class, only holds its arguments.
    """
    return _BUILTINS.get(name) or ("holds" if name[:1].isupper() else "unknown")


def of_library(path: str) -> Effect:
    """Return the effect of a library function.

    ``path`` is its full name, such as ``numpy.random.rand``.
    """
    owner, _, name = path.rpartition(".")
    root = path.partition(".")[0]
    if path in _OF_PATHS:
        return "holds"
    if any(path == item or path.startswith(f"{item}.") for item in DRAWING_MODULES):
        return "draws"
    if root in OUTSIDE_MODULES:
        return "outside"
    if root not in PURE_MODULES:
        return "unknown"
    is_asked = name.startswith(("is_", "are_")) and name.endswith(("enabled", "mode"))
    is_of_process = is_asked or name.startswith(_OUTSIDE_OF_TORCH)
    if root == "torch" and (is_of_process or owner.startswith("torch.cuda")):
        return "outside"
    is_setting = ".config" in path or path == "torch._dynamo.reset"
    if root == "torch" and (is_setting or "library" in path or "distributed" in path):
        return "outside"
    if root == "numpy" and name in ("save", "savez", "savetxt", "load", "loadtxt", "seterr", "fromfile"):
        return "outside"
    if root in ("collections", "types", "dataclasses", "itertools", "functools", "contextlib", "enum"):
        return "holds"
    return of_method(name, is_tensor=root in ("torch", "numpy", "scipy"))


def of_method(name: str, *, is_tensor: bool) -> Effect:
    """Return the effect of a method, by its name.

    The receiver is a tensor or array if ``is_tensor``, otherwise it may be a list.
    """
    if name in _RANDOM:
        return "draws"
    if name.endswith("_") and not name.endswith("__"):
        return "changes"
    if name in CHANGES and not (is_tensor and name in OF_LISTS_ONLY):
        return "changes"
    return "views" if name in VIEWS else "fresh"
