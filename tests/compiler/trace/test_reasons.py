"""What torch says of a guard that failed: each of its sentences."""

from __future__ import annotations

import pytest
from fullgraph_compiler.trace.guards import METADATA
from fullgraph_compiler.trace.reasons import FREED, Change, parse_reasons

SENTENCES = {
    "tensor 'x' size mismatch at index 0. expected 3, actual 4": Change("x", "size", "3", "4", 0),
    "tensor 'x' rank mismatch. expected 2, actual 3": Change("x", "rank", "2", "3"),
    "tensor 'self._parameters['w']' dtype mismatch. expected Float, actual Half. "
    "Guard failed on a parameter, consider using torch._dynamo.config.x": Change(
        "self._parameters['w']", "dtype", "torch.float32", "torch.float16"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU), "
    "actual DispatchKeySet(CUDA, ADInplaceOrView, AutogradCUDA)": Change("x", "device", "cpu", "cuda"),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU), "
    "actual DispatchKeySet(CPU)": Change("x", "autograd", "on", "off"),
    "tensor 'x' requires_grad mismatch. expected requires_grad=0": Change(
        "x", "requires_grad", "False", "True"
    ),
    "expected type of 'x' to be a tensor type, ' but found <class 'int'>": Change(
        "x", "type", "a tensor", "int"
    ),
    "expected type of 'x' to be <class 'torch.Tensor'>, but found <class 'int'>": Change(
        "x", "type", "torch.Tensor", "int"
    ),
    "GLOBAL_STATE changed: grad_mode autocast( ": Change(changed="grad_mode autocast(", kind="GLOBAL_STATE"),
    "BACKEND_MATCH failure: torch.compile with another": Change(kind="BACKEND_MATCH"),
    'Duplicate tensors found: ["x", "y"]': Change("x", actual="y", kind="DUPLICATE"),
    "len(names) == 3": Change("names", "length", "3"),
    "len(names) != 3": Change("names", "length", "3"),
    "not names": Change("names", "length", "0"),
    "list(dict.keys(sizes))[0] == 'a'": Change("sizes", "key", "'a'"),
    "3 <= x.size()[1] <= 6": Change("x", "size", "from 3 to 6", dimension=1),
    "3 <= x.size()[0]": Change("x", "size", "at least 3", dimension=0),
    "x.size()[0] <= 6": Change("x", "size", "at most 6", dimension=0),
    "x.size()[0] == 3": Change("x", "size", "3", dimension=0),
    "x.size()[0] == y.size()[0]  # duck sizing added this equality": Change(
        "x", "size", "y.size()[0]", dimension=0, kind="DUCK_SIZE"
    ),
    "set.__contains__(names, 'a')": Change("names", expected="with 'a'", actual="without 'a'"),
    "not ___dict_contains('a', names)": Change("names", expected="without 'a'", actual="with 'a'"),
    "hasattr(model, 'bias')": Change("model", expected="with .bias", actual="without .bias"),
    "x is y": Change("x", expected="y", kind="OBJECT_ALIASING"),
    "x is None": Change("x", expected="None"),
    "mode == 'train'": Change("mode", expected="'train'"),
    "(type(x) is float and __math_isnan(x))": Change("x", expected="nan"),
    "___tuple_iterator_len(items) == 2": Change("items", "number of items", "2"),
    "_has_dynamo_dim_marking is present on runtime tensor but was absent at compile time": Change(
        kind="DIMENSION_DYNAMIC_MARKING_GUARD"
    ),
    "a value is present on something": Change(),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), "
    "actual DispatchKeySet(CPU, AutogradCPU, FuncTorchBatched)": Change(
        "x", "", "outside of `torch.func`", "inside of `torch.func`"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), "
    "actual DispatchKeySet(SparseCPU, AutogradCPU)": Change("x", "dispatch keys", "CPU", "SparseCPU"),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), "
    "actual DispatchKeySet(CPU, Conjugate, AutogradCPU)": Change(
        "x", "dispatch keys", "without Conjugate", "with Conjugate"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), "
    "actual DispatchKeySet(CPU, ADInplaceOrView)": Change(
        "x", "", "inside of `torch.inference_mode()`", "outside of `torch.inference_mode()`"
    ),
    "param.grad is not None": Change("param.grad", expected="not None"),
    "not hooks[list(dict.keys(hooks))[0]].kept": Change(
        "hooks[list(dict.keys(hooks))[0]].kept", "length", "0"
    ),
    "something else": Change(),
    "p == (8 // (8 // p))": Change(),
    "__dtensor_spec_140627586374112": Change(changed="mesh, placements or sizes", kind="DTENSOR_SPEC_MATCH"),
    "___check_opaque_guard_fn_14_c0/0": Change(changed="guarded state", kind="OPAQUE_OBJ_GUARD_FN_MATCH"),
    "___dict_version(options) == 17": Change("options", changed="contents", kind="DICT_VERSION"),
    "q == p  # (unknown var s64, please file a bug)": Change(),
    "x == inf": Change("x", expected="inf"),
    "___check_metadata_140627586374112_c0/0": Change(changed="metadata", kind=METADATA),
    "Cache line invalidated because L['args'][0] got deallocated": Change("args[0]", kind=FREED),
    "KeyError on d['scale']": Change("d", "", "with 'scale'", "without 'scale'", kind="DICT_CONTAINS"),
    "KeyError on self.state[list(dict.keys(self.state))[0]]": Change(
        "self.state", expected="with all earlier keys", actual="without one of them"
    ),
    "KeyError on rows['a[0]'][2]": Change("rows['a[0]']", "", "with 2", "without 2", kind="DICT_CONTAINS"),
    "IndexError on items[1]": Change("items", "length", "at least 2", kind="LENGTH_CHECK"),
    "getattr failed on source c.parts.scale": Change(
        "c.parts", "", "with .scale", "without .scale", kind="HASATTR"
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_sentence_is_read(sentence: str) -> None:
    (reason,) = parse_reasons(f"0/1: {sentence}")
    assert (reason.compile_id, reason.change) == ("0/1", SENTENCES[sentence])
