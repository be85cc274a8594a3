"""Find failures of a compiled program: it raises, or computes wrong numbers.

Numbers are wrong if they differ from those of the uncompiled program. The source of ``run``, ``mismatch``,
``difference``, ``in_double`` and ``widened`` is copied into repros, so these functions use only builtins,
torch and the standard library.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from typing import Any

import torch

from ..compat.graph_compat import failing_node, operator_mode
from ..facts import Failure

UNCOMPILED = "Uncompiled"
"""The ``error`` of a program that raises without the compiler; no compiler failure has this ``error``."""


IN_PIECES = "InPieces"
"""The ``error`` of a program that Dynamo does not capture as one graph: parts may have run uncompiled."""


def examine(namespace: dict[str, Any], numerics: bool = True) -> Failure | None:
    """Compile and run the module of a repro, and return the failure.

    ``namespace`` is the repro's namespace. ``None`` if the module passes. Without ``numerics`` the results
    are not compared.
    """
    module, inputs, compiled = namespace["Repro"], namespace["inputs"], namespace["compiled"]
    try:
        plain = run(module(), inputs())
    except Exception as error:
        message = f"{type(error).__name__}: {first_line(error)}"
        return Failure("error", UNCOMPILED, message, text=traceback.format_exc())
    try:
        compiled_results = run(compiled(module(), inputs()), inputs())
    except Exception as error:
        return _raised(error)
    message = mismatch(module(), inputs, compiled_results, plain) if numerics else ""
    if not message or _is_other_dropout(module(), inputs(), compiled_results):
        return None
    return wrong_numbers(message)


def wrong_numbers(message: str) -> Failure:
    """Convert a message of :func:`mismatch` or :func:`difference` to a failure."""
    error = "NaN" if "NaN" in message else "Numbers"
    return Failure("accuracy", error, message, "backward" if message.startswith("gradient") else "forward")


def _is_other_dropout(module: Any, args: list[Any], results: list[Any]) -> bool:
    """Return whether results differ only by the random numbers of decomposed dropout.

    On a GPU, the fused dropout kernel draws other numbers than the decomposition of ``native_dropout``
    (``torch/_decomp/decompositions.py``).
    """
    decomposed = 0

    def decompose(operator: Any, args: Any, kwargs: Any) -> Any:
        nonlocal decomposed
        if operator is not torch.ops.aten.native_dropout.default:
            return operator(*args, **kwargs)
        value, share, train = args
        if not train or share in (0, 1):
            return operator(*args, **kwargs)
        decomposed += 1
        kept = torch.rand_like(value) > share
        return kept * value * float(1.0 / (1.0 - share)), kept

    with operator_mode(decompose):
        plain = run(module, args)
    # No comparison with float64, which draws the random numbers of the fused kernel.
    return decomposed > 0 and not any(
        difference("", *pair, None) for pair in zip(results, plain, strict=True)
    )


def same_failure(failure: Failure, other: Failure) -> bool:
    """Return whether two failures count as the same: they must be of equal kind.

    Two hangs are always the same. Crashes must also have an equal ``error``, wrong results an equal ``error``
    and phase, and errors an equal ``error``, phase and message pattern.
    """
    if failure.kind != other.kind or failure.kind == "hang":
        return failure.kind == other.kind
    if failure.error != other.error or failure.kind == "crash":
        return failure.error == other.error
    if failure.phase != other.phase or failure.kind == "accuracy":
        return failure.phase == other.phase
    return pattern(failure.message) == pattern(other.message)


_VARIABLE = re.compile(
    r"""
    (?<!\w)(['"`]).*?\1       # quoted text
    | 0x[0-9a-fA-F]+          # an address
    | (?<![\w.])/[^\s:]+      # a file
    | [\[(][\d\s,]*[\])]      # a shape
    | [-+]?(?<!\w)\d[\w.+-]*  # a number
    | _?\d+                   # the number of a name: relu_3
    """,
    re.VERBOSE,
)


def pattern(message: str) -> str:
    """Return a regular expression that ignores names, numbers and paths in a message."""
    parts = _VARIABLE.sub("\0", message).split("\0")
    fixed = [re.escape(part).replace("\\ ", " ") for part in parts]
    return ".*".join(part for number, part in enumerate(fixed) if part or number in (0, len(fixed) - 1))


# -- exceptions --------------------------------------------------------------------------------

_WRAPPERS = ("BackendCompilerFailed", "InductorError", "LoweringException", "TorchRuntimeError")
"""Exceptions of torch that only wrap another exception."""

_BACKWARD_COMPILERS = ("_aot_stage2b_bw_compile", "bw_compiler", "_wrapped_bw_compiler")
"""Functions of torch, 2.11 to 2.15, that compile a backward graph, possibly during the forward call."""


def _raised(error: BaseException) -> Failure:
    """Return the failure for an exception that the compiled program raised."""
    *_, cause = _causes(error)
    message = first_line(cause)
    if not message:
        *_, (frame, _) = traceback.walk_tb(cause.__traceback__)
        message = f"in {frame.f_code.co_name}"
    text = "".join(traceback.format_exception(error))
    # The traceback of the compiler may not contain the user's line.
    node = next(filter(None, map(failing_node, _causes(error))), None)
    if node is not None:
        text += f"\nat {node.format_node()}\n{node.meta['stack_trace']}"
    phase = "backward" if _is_of_backward(error) else "forward"
    return Failure("error", type(cause).__name__, message, phase, text)  # type: ignore[arg-type]


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, then the exceptions that it wraps, the original one last."""
    yield error
    if type(error).__name__ in _WRAPPERS:
        inner = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
        if inner is not None:
            yield from _causes(inner)


def first_line(error: BaseException) -> str:
    """Return the first line of an error, or the first C++ compiler error in it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    faults = (line[line.index("error: ") :] for line in lines if ": error: " in line)
    return next(faults, lines[0] if lines else "")


def _is_of_backward(error: BaseException) -> bool:
    """Return whether tracing, compiling or running the backward pass raised an error."""
    return any(
        frame.f_globals.get("__name__") == "torch.autograd" or frame.f_code.co_name in _BACKWARD_COMPILERS
        for cause in _causes(error)
        for frame, _ in traceback.walk_tb(cause.__traceback__)
    )


# -- numbers -----------------------------------------------------------------------------------


def run(function: Any, args: list[Any]) -> list[Any]:
    """Run the forward and backward pass of a function.

    Return its outputs, the inputs after the call, and the gradients of the inputs.
    """
    torch.manual_seed(0)
    edges = {
        place: torch.autograd.graph.get_gradient_edge(arg)
        for place, arg in enumerate(args)
        if isinstance(arg, torch.Tensor) and arg.requires_grad
    }
    outputs = list(function(*args))
    ends = [output for output in outputs if isinstance(output, torch.Tensor) and output.requires_grad]
    gradients = [None] * len(args)
    if ends and edges:
        # Multiples of 1/16 are exact in all floating point types.
        torch.manual_seed(1)
        starts = [torch.randint(1, 33, end.shape, device=end.device).to(end.dtype) / 16 for end in ends]
        gradients_of_edges = torch.autograd.grad(ends, [*edges.values()], starts, allow_unused=True)
        for place, gradient in zip(edges, gradients_of_edges, strict=True):
            gradients[place] = gradient
    return [*outputs, *args, *gradients]


def mismatch(module: Any, inputs: Any, results: list[Any], plain: list[Any]) -> str:
    """Describe the first result of ``run`` that differs from the uncompiled result.

    Empty if all results match.
    """
    if len(results) != len(plain):
        return f"{len(results) - len(plain):+} outputs, compared with uncompiled"
    names = module.forward.__code__.co_varnames[1 : module.forward.__code__.co_argcount]
    titles = [f"output {number}" for number in range(len(plain) - 2 * len(names))]
    titles += [f"{name} after the call" for name in names] + [f"gradient of {name}" for name in names]
    if not any(map(difference, titles, results, plain, [None] * len(plain))):
        return ""
    try:
        double = in_double(module, inputs)
    except Exception:
        # Not every operator supports float64: then compare with the uncompiled results only.
        double = [None] * len(plain)
    return next(filter(None, map(difference, titles, results, plain, double)), "")


def difference(title: str, result: Any, plain: Any, double: Any) -> str:
    """Describe how a result differs from the uncompiled result.

    Empty if it does not differ, or is about as close to float64 as the uncompiled result.
    """
    if result is None or plain is None:
        other = plain if result is None else result
        same = other is None or not torch.as_tensor(other).any()
        return (
            "" if same else f"{title}: " + ("missing" if result is None else "not in the uncompiled program")
        )
    result, plain = torch.as_tensor(result).detach().cpu(), torch.as_tensor(plain).detach().cpu()
    if (result.dtype, result.shape) != (plain.dtype, plain.shape):
        return f"{title}: {result.dtype} {[*result.shape]}, uncompiled {plain.dtype} {[*plain.shape]}"
    tolerance, exact = 0.0, torch.int64
    if plain.is_floating_point() or plain.is_complex():
        tolerance = {torch.float64: 1e-7, torch.float32: 1e-4}.get(plain.dtype.to_real(), 0.0)
        tolerance = tolerance or 4 * torch.finfo(plain.dtype).eps
        exact = torch.complex128 if plain.is_complex() else torch.float64
    double = plain if double is None else torch.as_tensor(double).detach().cpu()
    f, p, d = (
        torch.view_as_real(tensor) if tensor.is_complex() else tensor
        for tensor in (result.to(exact), plain.to(exact), double.to(exact))
    )
    # Clamp values beyond the range of the type.
    ends = torch.finfo(plain.dtype) if tolerance else torch.iinfo(torch.int64)
    near, right = f.clamp(ends.min, ends.max), d.where(~d.isnan(), p).clamp(ends.min, ends.max)
    size = right.abs().double().where(right.abs() < ends.max, 0).nan_to_num()
    limit = tolerance * (size + size.sum() / max(size.numel(), 1)) + tolerance / 100
    wrong = (f != p) & ~(f.isnan() & p.isnan()) & ~((f - p).abs() < limit)
    # Allow a few times the largest error of the uncompiled result.
    noise = (p - right).abs()[p.isfinite()]
    worse = (near - right).abs() > limit + 3 * (noise.max() if len(noise) else 0)
    # A NaN may appear where float64 has one, and may be missing where float64 has none.
    news = (f.isnan() != p.isnan()) & (p.isnan() == d.isnan())
    wrong &= torch.where(f.isnan() | (p.isnan() & d.isnan()), news, worse)
    if not wrong.any():
        return ""
    gap = (f - p).abs().double()
    gap = gap.where(~gap.isnan(), torch.inf).where(wrong, -1)
    place = [*map(int, torch.unravel_index(gap.argmax(), gap.shape))]
    at = f" at {place[: result.ndim]}" if result.ndim else ""
    values = f"{f[tuple(place)]:.6g}, uncompiled {p[tuple(place)]:.6g}".replace("nan", "NaN")
    if not gap.max().isfinite():
        return f"{title}{at}: {values}"
    return f"{title}: off by {gap.max():.1e} (tolerance {limit[tuple(place)]:.0e}){at}: {values}"


def in_double(module: Any, inputs: Any) -> list[Any]:
    """Return the uncompiled results of ``run`` in float64, with equal random numbers."""
    drawn: list[Any] = []

    def record(operator: Any, args: Any, kwargs: Any) -> Any:
        result = operator(*args, **kwargs)
        if torch.Tag.nondeterministic_seeded in operator.tags:
            copy = tuple(map(torch.clone, result)) if isinstance(result, tuple) else result.clone()
            drawn.append((widened(copy), len(args) > 0 and result is args[0]))
        return result

    def repeat(operator: Any, args: Any, kwargs: Any) -> Any:
        if torch.Tag.nondeterministic_seeded not in operator.tags:
            return widened(operator(*widened(args), **widened(kwargs)))
        result, in_place = drawn.pop(0)
        return args[0].copy_(result) if in_place else result

    args = inputs()
    with operator_mode(record):
        run(module, args)
    args = [
        widened(arg.detach()).requires_grad_(arg.requires_grad) if isinstance(arg, torch.Tensor) else arg
        for arg in inputs()
    ]
    with operator_mode(repeat):
        return run(module, args)


def widened(value: Any) -> Any:
    """Return a value with floating point tensors and dtypes widened to 64 bits."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(widened, value))
    if isinstance(value, dict):
        return {key: widened(item) for key, item in value.items()}
    if isinstance(value, torch.dtype):
        kind = torch.empty(0, dtype=value)
        wide = torch.complex128 if kind.is_complex() else torch.float64
        return wide if kind.is_complex() or kind.is_floating_point() else value
    return value.to(widened(value.dtype)) if isinstance(value, torch.Tensor) else value
