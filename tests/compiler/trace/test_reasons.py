"""What torch says of a guard that failed: each of its sentences."""

from __future__ import annotations

import pytest
from fullgraph_compiler.trace.guards import METADATA
from fullgraph_compiler.trace.reasons import FREED, GuardedChange, parse_reasons

SENTENCES = {
    "tensor 'x' size mismatch at index 0. expected 3, actual 4": GuardedChange("x", "size", "3", "4", 0),
    "tensor 'x' rank mismatch. expected 2, actual 3": GuardedChange("x", "rank", "2", "3"),
    "tensor 'self._parameters['w']' dtype mismatch. expected Float, actual Half. "
    "Guard failed on a parameter, consider using torch._dynamo.config.x": GuardedChange(
        "self._parameters['w']", "dtype", "torch.float32", "torch.float16"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU), "
    "actual DispatchKeySet(CUDA, ADInplaceOrView, AutogradCUDA)": GuardedChange("x", "device", "cpu", "cuda"),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU), "
    "actual DispatchKeySet(CPU)": GuardedChange("x", "autograd", "on", "off"),
    "tensor 'x' requires_grad mismatch. expected requires_grad=0": GuardedChange(
        "x", "requires_grad", "False", "True"
    ),
    "expected type of 'x' to be a tensor type, ' but found <class 'int'>": GuardedChange(
        "x", "type", "a tensor", "int"
    ),
    "expected type of 'x' to be <class 'torch.Tensor'>, but found <class 'int'>": GuardedChange(
        "x", "type", "torch.Tensor", "int"
    ),
    "GLOBAL_STATE changed: grad_mode autocast( ": GuardedChange(
        changed="grad_mode autocast(", kind="GLOBAL_STATE"
    ),
    "BACKEND_MATCH failure: torch.compile with another": GuardedChange(kind="BACKEND_MATCH"),
    'Duplicate tensors found: ["x", "y"]': GuardedChange("x", actual="y", kind="DUPLICATE"),
    "len(names) == 3": GuardedChange("names", "length", "3"),
    "len(names) != 3": GuardedChange("names", "length", "3"),
    "not names": GuardedChange("names", "length", "0"),
    "list(dict.keys(sizes))[0] == 'a'": GuardedChange("sizes", "key", "'a'"),
    "3 <= x.size()[1] <= 6": GuardedChange("x", "size", "from 3 to 6", dimension=1),
    "3 <= x.size()[0]": GuardedChange("x", "size", "at least 3", dimension=0),
    "x.size()[0] <= 6": GuardedChange("x", "size", "at most 6", dimension=0),
    "x.size()[0] == 3": GuardedChange("x", "size", "3", dimension=0),
    "x.size()[0] == y.size()[0]  # duck sizing added this equality": GuardedChange(
        "x", "size", "y.size()[0]", dimension=0, kind="DUCK_SIZE"
    ),
    "set.__contains__(names, 'a')": GuardedChange("names", expected="with 'a'", actual="without 'a'"),
    "not ___dict_contains('a', names)": GuardedChange("names", expected="without 'a'", actual="with 'a'"),
    "hasattr(model, 'bias')": GuardedChange("model", expected="with .bias", actual="without .bias"),
    "x is y": GuardedChange("x", expected="y", kind="OBJECT_ALIASING"),
    "x is None": GuardedChange("x", expected="None"),
    "mode == 'train'": GuardedChange("mode", expected="'train'"),
    "(type(x) is float and __math_isnan(x))": GuardedChange("x", expected="nan"),
    "___tuple_iterator_len(items) == 2": GuardedChange("items", "number of items", "2"),
    "_has_dynamo_dim_marking is present on runtime tensor but was absent at compile time": GuardedChange(
        kind="DIMENSION_DYNAMIC_MARKING_GUARD"
    ),
    "a value is present on something": GuardedChange(),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), "
    "actual DispatchKeySet(CPU, AutogradCPU, FuncTorchBatched)": GuardedChange(
        "x", "", "outside of `torch.func`", "inside of `torch.func`"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), "
    "actual DispatchKeySet(SparseCPU, AutogradCPU)": GuardedChange("x", "dispatch keys", "CPU", "SparseCPU"),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), "
    "actual DispatchKeySet(CPU, Conjugate, AutogradCPU)": GuardedChange(
        "x", "dispatch keys", "without Conjugate", "with Conjugate"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), "
    "actual DispatchKeySet(CPU, ADInplaceOrView)": GuardedChange(
        "x", "", "inside of `torch.inference_mode()`", "outside of `torch.inference_mode()`"
    ),
    "param.grad is not None": GuardedChange("param.grad", expected="not None"),
    "not hooks[list(dict.keys(hooks))[0]].kept": GuardedChange(
        "hooks[list(dict.keys(hooks))[0]].kept", "length", "0"
    ),
    "something else": GuardedChange(),
    "p == (8 // (8 // p))": GuardedChange(),
    "__dtensor_spec_140627586374112": GuardedChange(
        changed="mesh, placements or sizes", kind="DTENSOR_SPEC_MATCH"
    ),
    "___check_opaque_guard_fn_14_c0/0": GuardedChange(
        changed="guarded state", kind="OPAQUE_OBJ_GUARD_FN_MATCH"
    ),
    "___dict_version(options) == 17": GuardedChange("options", changed="contents", kind="DICT_VERSION"),
    "q == p  # (unknown var s64, please file a bug)": GuardedChange(),
    "x == inf": GuardedChange("x", expected="inf"),
    "___check_metadata_140627586374112_c0/0": GuardedChange(changed="metadata", kind=METADATA),
    "Cache line invalidated because L['args'][0] got deallocated": GuardedChange("args[0]", kind=FREED),
    "KeyError on d['scale']": GuardedChange("d", "", "with 'scale'", "without 'scale'", kind="DICT_CONTAINS"),
    "KeyError on self.state[list(dict.keys(self.state))[0]]": GuardedChange(
        "self.state", expected="with all earlier keys", actual="without one of them"
    ),
    "KeyError on rows['a[0]'][2]": GuardedChange(
        "rows['a[0]']", "", "with 2", "without 2", kind="DICT_CONTAINS"
    ),
    "IndexError on items[1]": GuardedChange("items", "length", "at least 2", kind="LENGTH_CHECK"),
    "getattr failed on source c.parts.scale": GuardedChange(
        "c.parts", "", "with .scale", "without .scale", kind="HASATTR"
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_sentence_is_read(sentence: str) -> None:
    (reason,) = parse_reasons(f"0/1: {sentence}")
    assert (reason.compile_id, reason.change) == ("0/1", SENTENCES[sentence])
