"""The text of a custom operator, with its fake kernel and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fullgraph_compiler.facts import CallSeen, CallsSeen, TensorSeen, ValueKind

from .gradient import OperatorArgument, OperatorGradient, listed, no_gradient
from .result_sizes import UnknownSizeError, made_result

_TYPES: dict[ValueKind, str] = {
    "tensor": "torch.Tensor",
    "tensors": "list[torch.Tensor]",
    "int": "int",
    "ints": "list[int]",
    "float": "float",
    "floats": "list[float]",
    "bool": "bool",
    "bools": "list[bool]",
    "str": "str",
    "dtype": "torch.dtype",
    "device": "torch.device",
}
_FLOATING = ("float", "bfloat", "complex")


class NoOperatorError(Exception):
    """Raised if a function cannot be an operator.

    The exception's text continues a sentence that begins with the function's name.
    """


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """The form of a call in the source: function, and a parameter name per argument.

    Arguments after the first ``positional`` are passed by keyword. ``is_used`` says that the program uses the
    result.
    """

    function: str
    names: tuple[str, ...]
    positional: int
    is_used: bool

    def text(self, values: Sequence[str]) -> str:
        """Return the source of the call with other arguments."""
        first, rest = values[: self.positional], values[self.positional :]
        words = [f"{name}={value}" for name, value in zip(self.names[self.positional :], rest, strict=True)]
        return f"{self.function}({', '.join([*first, *words])})"


def operator_text(called: WrittenCall, seen: CallsSeen, base: str, library_name: str) -> str:
    """Return the source of the operator ``{base}_op`` with its fake and its gradient.

    Torch knows the operator as ``library_name``. Raises :class:`NoOperatorError`.
    """
    return _OperatorText(called, seen.calls, base, library_name).text()


class _OperatorText:
    def __init__(self, called: WrittenCall, calls: Sequence[CallSeen], base: str, library_name: str) -> None:
        self._called = called
        self._calls = calls
        self._base, self._operator = base, f"{base}_op"
        self._library_name = library_name
        self._names = called.names
        self._given = {
            name: [call.arguments[index] for call in calls] for index, name in enumerate(called.names)
        }
        self._kinds = [self._kind(name) for name in called.names]
        self._changed = [
            name
            for name, values in self._given.items()
            if any(tensor.changed for value in values for tensor in value.tensors)
        ]
        results = {(call.result.kind, call.result.is_tuple, len(call.result.tensors)) for call in calls}
        if len(results) > 1:
            raise NoOperatorError("returns results of several types, but an operator has one result type")
        ((self._result, self._is_tuple, self._length),) = results
        if not called.is_used:
            self._result = "none"
        if self._result == "none" and not self._changed:
            raise NoOperatorError("returns nothing and changes no tensor: torch may remove the call")
        self._draws = any(call.draws for call in calls)
        if self._result not in ("none", "tensor", "tensors", "array"):
            kind = calls[0].result.text or self._result
            raise NoOperatorError(f"returns `{kind}`, but a custom operator returns tensors")

    def text(self) -> str:
        """Return the source of all definitions."""
        parts = [self._wrapper(), self._fake()]
        flows = None if self._result == "array" else self._flows()
        if self._draws and flows is not None and any(flows):
            raise NoOperatorError("draws random numbers, and its gradient would draw different ones")
        if flows is not None and any(flows):
            parts += self._gradient(tuple(index for index, flow in enumerate(flows) if flow))
        elif flows is not None:
            several = self._result == "tensors"
            parts += no_gradient(self._base, len(self._names), several=several)
        return "\n\n\n".join(parts) + "\n"

    # -- arguments ---------------------------------------------------------------------------------

    def _kind(self, name: str) -> str:
        """Return the type annotation of a parameter."""
        values = self._given[name]
        kinds = {value.kind for value in values}
        unfit = next((value.text for value in values if value.kind == "other"), None)
        if unfit is not None:
            raise NoOperatorError(f"gets `{unfit}` as `{name}`, which a custom operator cannot take")
        is_optional = "none" in kinds
        kinds.discard("none")
        if kinds == {"int", "float"}:
            kinds = {"float"}
        if len(kinds) > 1:
            raise NoOperatorError(f"gets values of several types as `{name}`")
        written = _TYPES[kinds.pop()] if kinds else "torch.Tensor"
        return f"{written} | None" if is_optional else written

    def _parameters(self) -> str:
        return ", ".join(f"{name}: {kind}" for name, kind in zip(self._names, self._kinds, strict=True))

    def _values(self) -> list[str]:
        """Return the arguments with which the operator calls the function.

        Lists are converted to tuples where the program passes tuples.
        """
        return [
            f"tuple({name})" if all(value.is_tuple for value in values) else name
            for name, values in self._given.items()
        ]

    # -- the function ------------------------------------------------------------------------------

    def _wrapper(self) -> str:
        call = self._called.text(self._values())
        changed = "".join(f'"{name}", ' for name in self._changed).removesuffix(
            " " if len(self._changed) == 1 else ", "
        )
        one = "torch.Tensor"
        several = f"tuple[{', '.join([one] * self._length)}]" if self._is_tuple else f"list[{one}]"
        returns = {"none": "None", "tensor": one, "array": one}.get(self._result, several)
        tags = ", tags=torch.Tag.nondeterministic_seeded" if self._draws else ""
        lines = [
            f'@torch.library.custom_op("{self._library_name}", mutates_args=({changed}){tags})',
            f"def {self._operator}({self._parameters()}) -> {returns}:",
        ]
        suffixes = [self._suffix(index) for index in range(self._length)]
        if self._result == "none":
            lines.append(f"    {call}")
        elif self._result == "array":
            lines.append(f"    return torch.tensor({call})")
        elif self._result == "tensor":
            lines.append(f"    return {call}{suffixes[0]}")
        elif not any(suffixes) and self._is_tuple:
            lines.append(f"    return {call}")
        else:
            names = self._numbered("result")
            lines.append(f"    {listed(names)} = {call}")
            given = [f"{name}{suffix}" for name, suffix in zip(names, suffixes, strict=True)]
            lines.append(f"    return {self._several(given)}")
        return "\n".join(lines)

    def _suffix(self, index: int) -> str:
        """Return the call that gives a result contiguous memory of its own.

        Return ``""`` if the result has such memory already.
        """
        seen = self._results(index)
        is_ordinary = all(item.contiguous for item in seen)
        if any(item.aliases for item in seen):
            return ".clone()" if is_ordinary else ".clone(memory_format=torch.contiguous_format)"
        return "" if is_ordinary else ".contiguous()"

    def _results(self, index: int) -> list[TensorSeen]:
        return [call.result.tensors[index] for call in self._calls]

    def _several(self, texts: Sequence[str]) -> str:
        return listed(texts) if self._is_tuple else f"[{', '.join(texts)}]"

    def _numbered(self, word: str) -> list[str]:
        found, number = list[str](), 0
        while len(found) < self._length:
            number += 1
            if (name := f"{word}_{number}") not in self._names:
                found.append(name)
        return found

    def _fake(self) -> str:
        lines = [f"@{self._operator}.register_fake", f"def _({', '.join(self._names)}):"]
        if self._result == "none":
            return "\n".join([*lines, "    return None"])
        try:
            made = [
                made_result(self._names, self._calls, self._results(index), "torch")
                for index in range(self._length)
            ]
        except UnknownSizeError as problem:
            raise NoOperatorError(f"has results that do not follow from its arguments: {problem}") from None
        given = made[0] if self._result in ("tensor", "array") else self._several(made)
        return "\n".join([*lines, f"    return {given}"])

    # -- gradients ---------------------------------------------------------------------------------

    def _flows(self) -> list[bool] | None:
        """Tell for each result whether gradients flow through it.

        Return ``None`` if no result can have a gradient.
        """
        calls = [
            call
            for call in self._calls
            if any(tensor.requires_grad for value in call.arguments for tensor in value.tensors)
        ]
        if self._changed:
            if any(not call.made for call in calls):
                raise NoOperatorError("changes a tensor in place while gradients are recorded")
            return None
        flows = {tuple(tensor.requires_grad for tensor in call.result.tensors) for call in calls}
        if len(flows) > 1:
            raise NoOperatorError("returns results that have a gradient only in some calls")
        is_number = all(
            tensor.dtype.startswith(_FLOATING) for call in calls for tensor in call.result.tensors[:1]
        )
        found = list(flows.pop()) if flows else None
        return found if found and (any(found) or is_number or len(found) > 1) else None

    def _gradient(self, flowing: tuple[int, ...]) -> list[str]:
        """Return the definitions of the gradient of the results with indices ``flowing``."""
        lists = self._kinds.count(_TYPES["tensors"])
        if "torch.Tensor | None" in self._kinds or lists > 1:
            raise NoOperatorError("has gradients for a varying number of arguments")
        several = ("tuple" if self._is_tuple else "list") if self._result == "tensors" else ""
        gradient = OperatorGradient(
            self._base,
            self._library_name,
            self._parameters(),
            tuple(map(self._argument, self._names, self._kinds)),
            self._called.text(self._values()),
            flowing,
            several,
        )
        return gradient.texts()

    def _argument(self, name: str, kind: str) -> OperatorArgument:
        is_list = kind == _TYPES["tensors"]
        is_tensor = is_list or kind == _TYPES["tensor"]
        tensors = [tensor for value in self._given[name] for tensor in value.tensors]
        is_floating = all(tensor.dtype.startswith(_FLOATING) for tensor in tensors)
        return OperatorArgument(name, is_tensor, is_list, is_tensor and is_floating)
