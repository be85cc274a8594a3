"""Known errors under `torch.compile`, with torch's explanations and hints.

The explanations and hints are by torch's developers. The patterns match error messages of torch 2.11 to 2.15
or of Python; a comment names the file that raises each error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KnownError:
    """A known error, recognized by its message and, if necessary, by its file.

    ``message`` and ``file`` are patterns for torch's message and for the file that raises the error. The
    explanation and the hint hold for every program that raises the error; with ``in_program``, they are shown
    only if the program's source shows the cause. The title, if any, replaces torch's message.
    """

    name: str
    message: str
    explanation: str = ""
    hint: str = ""
    file: str = ""
    in_program: bool = False
    title: str = ""


_KNOWN: Final = (
    # pickle.py: functions are pickled by their names
    KnownError(
        "pickled",
        r"Can't pickle <function (?P<name>\S+) at 0x\w+>: it's not the same object as",
        in_program=True,
    ),
    # fx/_symbolic_trace.py calls the forward that an ``OptimizedModule`` does not have
    KnownError(
        "fx-module",
        r'Module \[OptimizedModule\] is missing the required "forward" function',
        "`torch.fx` cannot look into a compiled module.",
        "Trace the module that was compiled: `compiled._orig_mod`.",
    ),
    # jit/annotations.py, for the forward of an ``OptimizedModule``
    KnownError(
        "jit-script",
        r"Unknown type annotation: 'Callable\[\.\.\., Any\]'",
        "`torch.jit.script` cannot read the forward of a compiled module.",
        "Script the module that was compiled: `compiled._orig_mod`.",
        r"[/\\]torch[/\\]jit[/\\]annotations\.py$",
        in_program=True,
    ),
    # nn/modules/module.py: names in the state of an ``OptimizedModule``
    KnownError(
        "state-names",
        r"^Error\(s\) in loading state_dict for (?P<name>\w+):\s(?s:.){0,400}?_orig_mod\.",
        "A module that `torch.compile` returns has `_orig_mod.` in the keys of its state_dict.",
        "Save and load the state_dict of the original module, `compiled._orig_mod`, or compile with "
        "`module.compile()`, which does not change the keys.",
    ),
    # _library/utils.py
    KnownError(
        "operator-aliases",
        r"^(?P<name>\S+) \(with implementation in .*\): The output of this custom operator \(1\) must not",
        "The result of a custom operator may not share memory with its inputs or with its other results.",
        "Return a copy, made with `.clone()`.",
    ),
    # _functorch/_aot_autograd/runtime_wrappers.py
    KnownError(
        "double-backward",
        "aot_autograd does not currently support double backward",
        "AOTAutograd does not support double backward: the gradient of compiled code cannot be "
        "differentiated.",
        "Compute the gradient inside the compiled function, with `torch.func.grad`. "
        'Or do not compile code that is differentiated twice, or compile it with `backend="eager"`.',
    ),
    # csrc/autograd/saved_variable.cpp: raised in the backward, when AOTAutograd traces it
    KnownError(
        "modified-in-place",
        r"needed for gradient computation has been modified by an inplace operation: "
        r"\[[^\]\n]{0,100}\]\]?, which is output \d{1,4} of (?P<name>\w{1,100})",
        "The backward needs a value that the function changes in place. AOTAutograd traces the backward at "
        "the first call, so the error is raised here, even if `backward()` is never called.",
        "Compute a new tensor instead of writing into that tensor, or write into a copy, made with "
        "`.clone()`. If no gradient is needed, call the function within `torch.no_grad()`.",
        r"^(?!.*[/\\]torch[/\\]autograd[/\\])",
    ),
    # _library/autograd.py
    KnownError(
        "operator-without-backward",
        r"Trying to backward through (?P<name>[\w.]{1,200}) but no autograd formula was registered",
        "The operator has no backward.",
        "Register a backward with `register_autograd`. If no gradient is needed, call the operator within "
        "`torch.no_grad()`, or on `.detach()` of its inputs.",
    ),
    # aten/src/ATen/FunctionalizeFallbackKernel.cpp
    KnownError(
        "operator-declares-alias",
        r"custom \(non-ATen\) operator whose output has alias annotations: (?P<name>[\w.:]{1,200})\(",
        "Its schema says that the result shares memory with an argument, which AOTAutograd does not support "
        "for custom operators.",
        "If the operator writes into that argument, let it return nothing (`-> ()` in the schema), and use "
        "the argument afterwards. Otherwise return a copy, made with `.clone()`, and write `-> Tensor`.",
        title="the operator `{name}` declares that its result shares memory with an argument",
    ),
    # csrc/autograd/saved_variable.cpp, csrc/autograd/VariableTypeUtils.h, c10/core/TensorImpl.h
    KnownError(
        "inference-tensor",
        "Inference tensors cannot be saved for backward|"
        "Inplace update to inference tensor outside InferenceMode is not allowed",
        "A tensor that was made within `torch.inference_mode()` cannot be used in a computation that needs "
        "gradients, and cannot be written to outside that mode.",
        "Use `torch.no_grad()` instead of `torch.inference_mode()`, or use a copy of the tensor, made with "
        "`.clone()` outside `torch.inference_mode()`.",
    ),
    # _functorch/_aot_autograd/runtime_wrappers.py
    KnownError(
        "donated-buffer",
        "compiled with non-empty donated buffers which requires create_graph=False",
        "This compiled backward can run only once: torch compiled it to reuse the memory of its saved "
        "tensors.",
        "Set `torch._functorch.config.donated_buffer = False` before the first backward, or pass "
        "`retain_graph=True` to every backward of this code, including the first.",
    ),
    # _functorch/_aot_autograd/runtime_wrappers.py
    KnownError(
        "compiled-backward-in-transform",
        "compiled backward function within vmap/grad/vjp",
        "A transform of `torch.func` cannot be applied to the backward of compiled code.",
        "Compile the transform itself, such as `torch.compile(torch.func.jacrev(f))`; wrapping "
        "`torch.autograd.grad` and its `vmap` in `torch.compile` does not help. Or do not compile the "
        "function.",
    ),
    # csrc/functorch and c10: AOTAutograd accesses the storage of a transform's wrapper
    KnownError(
        "returned-pullback",
        r"Cannot access storage of TensorWrapper",
        in_program=True,
    ),
    # _functorch/_aot_autograd/subclass_codegen.py: the frame of the compiled backward
    KnownError(
        "backward-again",
        "Trying to backward through the graph a second time",
        "All results of one compiled graph share one backward, which frees its saved tensors.",
        "Call `backward()` once, on the sum of the losses.",
        r"[/\\]_functorch[/\\]_aot_autograd[/\\]",
    ),
    # _dynamo/eval_frame.py
    KnownError(
        "jit-trace",
        r"torch\.jit\.trace a dynamo-optimized function",
        "`torch.jit.trace` cannot look into compiled code.",
        "Trace the original, uncompiled code: `compiled._orig_mod` of a module that `torch.compile` "
        "returned.",
    ),
    # _dynamo/eval_frame.py
    KnownError(
        "fx-trace",
        "FX to symbolically trace a dynamo-optimized function",
        "`torch.fx` cannot look into compiled code.",
        "Trace the original, uncompiled code: `compiled._orig_mod` of a module that `torch.compile` "
        "returned.",
    ),
    # _dynamo/eval_frame.py
    KnownError(
        "compiled-twice",
        "already has a get_compiler_config attribute",
        "This function has the attributes of a compiled function: `functools.wraps` copied them.",
        "Compile the wrapper only, and let it wrap the uncompiled function.",
    ),
    # _dynamo/eval_frame.py: ``OptimizedModule.__len__``
    KnownError(
        "module-length",
        r"^(?P<name>\w+) does not support len\(\)",
        "The program takes the length of a compiled module, which has none. `if module:`, `bool(module)`, "
        "`and` and `or` take the length, too.",
        "Test `module is not None` instead, or compile in place, with `module.compile()`.",
        r"[/\\]_dynamo[/\\]eval_frame\.py$",
    ),
    # optim/lr_scheduler.py
    KnownError(
        "assigned-step",
        "'function' object has no attribute '__func__'",
        "A scheduler wraps the method `step` of the optimizer, but the assigned `step` is a plain function.",
        "Make the scheduler before `optimizer.step = torch.compile(optimizer.step)`.",
        r"[/\\]optim[/\\]lr_scheduler\.py$",
    ),
    # _dynamo/eval_frame.py, _dynamo/guards.py
    KnownError(
        "recompilation-forbidden",
        "Detected recompile when torch.compile stance is 'fail_on_recompile'",
        "The stance `fail_on_recompile` turns every recompilation into an error.",
        'Make such a call before `torch.compiler.set_stance("fail_on_recompile")`.',
    ),
    # _dynamo/backends/distributed.py: ``DDPOptimizer.compile_fn``
    KnownError(
        "number-over-bucket",
        r"backend='compile_fn' raised:\s*AttributeError: '(?:int|float)' object has no attribute 'meta'",
        "`DistributedDataParallel` splits the graph at its buckets, and a number crosses a split.",
        "Set `torch._dynamo.config.optimize_ddp = False`: the graph stays whole, and gradients are sent at "
        "its end. Or store the number in a tensor.",
    ),
    # fx/experimental/symbolic_shapes.py: ``compute_unbacked_bindings``, for the fake result of an operator
    KnownError(
        "lost-number",
        r"Pending unbacked symbols \{[^}\n]{1,200}\} not in returned outputs",
        "Torch itself reads a number from a tensor here, and then finds the number in no result. This is an "
        "internal error of torch, not of a custom operator: this program defines none.",
        "Read the numbers from such tensors first, with `.item()` or `.tolist()`, and state their bounds: "
        "`torch._check(n >= 0)`.",
        in_program=True,
    ),
    # __init__.py: ``_TorchCompileInductorWrapper.apply_options``
    KnownError(
        "unknown-option",
        r"^Unexpected optimization option (?P<name>[\w.-]{1,100}), known options are \[",
    ),
    # _dynamo/exc.py: ``InvalidBackend``
    KnownError(
        "unknown-backend",
        r"^Invalid backend: '(?P<name>[^'\n]{1,100})', see `torch\._dynamo\.list_backends\(\)`",
    ),
    # _weights_only_unpickler.py, for a whole ``OptimizedModule``
    KnownError(
        "loaded-module",
        r"^Weights only load failed\.[\s\S]{0,2000}?torch\._dynamo\.eval_frame\.OptimizedModule",
        "The file contains a whole compiled module, which `torch.load` refuses to load by default.",
        "Save only the state_dict, `torch.save(compiled._orig_mod.state_dict(), path)`, and load it into a "
        "module: `module.load_state_dict(torch.load(path))`.",
    ),
    # _inductor/exc.py: ``InvalidCxxCompiler``
    KnownError(
        "no-compiler",
        r"No working C\+\+ compiler found in torch\._inductor\.config\.cpp\.cxx",
        "TorchInductor needs a C++ compiler for its CPU code, and finds none.",
        "Install a C++ compiler, such as g++, or set the environment variable `CXX` to the path of one.",
    ),
    # _dynamo/trace_rules.py
    KnownError(
        "forbidden",
        "Attempt to trace forbidden callable",
        "Compiled code may not call this function.",
        "Call it before the compiled call, on the arguments.",
    ),
)


def known_error(message: str, filename: str) -> KnownError | None:
    """Return the known error for a message and a file; ``None`` if there is none."""
    found = (item for item in _KNOWN if re.search(item.message, message) and re.search(item.file, filename))
    return next(found, None)
