"""The source of an operator's gradient: an operator that reruns the function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OperatorArgument:
    """A parameter of an operator.

    ``has_gradient`` is true only for tensors and lists of tensors.
    """

    name: str
    is_tensor: bool
    is_list: bool
    has_gradient: bool

    @property
    def starred(self) -> str:
        """The parameter as an item of a flat list of tensors."""
        return f"*{self.name}" if self.is_list else self.name

    @property
    def needing(self) -> str:
        """An expression for the parameter's tensors, detached and requiring gradients."""
        if self.is_list:
            return f"[item.detach().requires_grad_() for item in {self.name}]"
        return f"{self.name}.detach().requires_grad_()"

    @property
    def made(self) -> str:
        """An expression for empty tensors of the parameter's sizes, as items of a list."""
        if self.is_list:
            return f"*(item.new_empty(item.shape) for item in {self.name})"
        return f"{self.name}.new_empty({self.name}.shape)"


@dataclass(frozen=True, slots=True)
class OperatorGradient:
    """The gradient of the operator ``{base}_op``.

    ``parameters`` is the source of the operator's parameters, ``call`` the source of the call of the
    function. ``flowing`` are the indices of the results that gradients flow through. ``several`` is ``tuple``
    or ``list`` if the operator has several results; empty for one result.
    """

    base: str
    library_name: str
    parameters: str
    arguments: tuple[OperatorArgument, ...]
    call: str
    flowing: tuple[int, ...]
    several: str

    def texts(self) -> list[str]:
        """Return the source of each definition, without a newline at the end."""
        return [self._operator(), self._fake(), self._setup(), self._backward(), registered(self.base)]

    @property
    def _grads(self) -> list[str]:
        if not self.several:
            return ["grad_of_result"]
        return [f"grad_of_result_{index + 1}" for index in self.flowing]

    def _operator(self) -> str:
        grads = ", ".join(f"{name}: torch.Tensor" for name in self._grads)
        results = [f"results[{index}]" for index in self.flowing] if self.several else ["results"]
        own = [item for item in self.arguments if item.has_gradient]
        parts = results, [item.starred for item in own], self._grads
        lists = ", ".join(f"[{', '.join(part)}]" for part in parts)
        lines = [
            f'@torch.library.custom_op("{self.library_name}_gradient", mutates_args=())',
            f"def {self.base}_gradient_op({grads}, {self.parameters}) -> list[torch.Tensor]:",
            "    with torch.inference_mode(False):  # operators run below autograd: this turns it on again",
            *(f"        {item.name} = {item.needing}" for item in own),
            f"        results = {self.call}",
            "        found = torch.autograd.grad(",
            f"            {lists}, allow_unused=True, materialize_grads=True",
            "        )",
            "    return [item.clone(memory_format=torch.contiguous_format) for item in found]",
        ]
        return "\n".join(lines)

    def _fake(self) -> str:
        names = ", ".join([*self._grads, *(item.name for item in self.arguments)])
        made = ", ".join(item.made for item in self.arguments if item.has_gradient)
        return f"@{self.base}_gradient_op.register_fake\ndef _({names}):\n    return [{made}]"

    def _setup(self) -> str:
        saved = ", ".join(item.starred for item in self.arguments if item.is_tensor)
        lines = [
            f"def _{self.base}_setup(ctx, inputs, output):",
            f"    {listed([item.name for item in self.arguments])} = inputs",
            f"    ctx.save_for_backward({saved})",
            *(f"    ctx.{item.name} = {item.name}" for item in self.arguments if not item.is_tensor),
        ]
        return "\n".join(lines)

    def _backward(self) -> str:
        tensors = [item.starred for item in self.arguments if item.is_tensor]
        again = [item.name if item.is_tensor else f"ctx.{item.name}" for item in self.arguments]
        found = [f"{item.starred}_grad" for item in self.arguments if item.has_gradient]
        returned = [f"{item.name}_grad" if item.has_gradient else "None" for item in self.arguments]
        given, grads = "grad_of_result", ["grad_of_result"]
        if self.several:
            given = "*grads_of_results" if self.several == "tuple" else "grads_of_results"
            grads = [f"grads_of_results[{index}]" for index in self.flowing]
        lines = [
            f"def _{self.base}_backward(ctx, {given}):",
            f"    {listed(tensors)} = ctx.saved_tensors",
            f"    {listed(found)} = {self.base}_gradient_op({', '.join([*grads, *again])})",
            f"    return {', '.join(returned)}",
        ]
        return "\n".join(lines)


def no_gradient(base: str, arguments: int, *, several: bool) -> list[str]:
    """Return definitions that make the results of an operator non-differentiable."""
    nothing, results = ", ".join(["None"] * arguments), "*output" if several else "output"
    return [
        f"def _{base}_setup(ctx, inputs, output):\n    ctx.mark_non_differentiable({results})",
        f"def _{base}_backward(ctx, *grads):\n    return {nothing}",
        registered(base),
    ]


def registered(base: str) -> str:
    """Return the statement that registers an operator's gradient."""
    return f"{base}_op.register_autograd(_{base}_backward, setup_context=_{base}_setup)"


def names_of(base: str) -> list[str]:
    """Return the names that the definitions of an operator and its gradient bind."""
    return [f"{base}_op", f"{base}_gradient_op", f"_{base}_setup", f"_{base}_backward"]


def listed(texts: Sequence[str]) -> str:
    """Join texts as the source of a tuple, in parentheses if there is only one."""
    return f"({texts[0]},)" if len(texts) == 1 else ", ".join(texts)
