"""Autocast, inference mode, deterministic algorithms and other global state."""

import sys

import torch

_linear = torch.nn.Linear(4, 4)


@torch.compile
def _apply(x):
    return _linear(x).relu()


def autocast_or_not():
    _apply(torch.ones(2, 4))
    with torch.autocast("cpu", torch.bfloat16):
        _apply(torch.ones(2, 4))
    _apply(torch.ones(2, 4))


def two_autocast_types():
    for dtype in (torch.bfloat16, torch.float16, torch.bfloat16):
        with torch.autocast("cpu", dtype):
            _apply(torch.ones(2, 4))


def autocast_inside():
    @torch.compile
    def f(x):
        with torch.autocast("cpu", torch.bfloat16):
            y = _linear(x)
        return y * x

    x = torch.ones(2, 4)
    for _ in range(3):
        x = f(x)


def autocast_turned_off_inside():
    @torch.compile
    def f(x):
        with torch.autocast("cpu", enabled=False):
            return _linear(x.float())

    f(torch.ones(2, 4))
    with torch.autocast("cpu", torch.bfloat16):
        f(torch.ones(2, 4))


def inference_mode_or_not():
    _apply(torch.ones(2, 4))
    with torch.inference_mode():
        _apply(torch.ones(2, 4))
    with torch.no_grad():
        _apply(torch.ones(2, 4))


def inference_mode_decorates():
    @torch.compile
    @torch.inference_mode()
    def f(x):
        return x * 2

    x = torch.ones(3)
    for _ in range(3):
        x = f(x)


def no_grad_decorates():
    @torch.compile
    @torch.no_grad()
    def f(x):
        return _linear(x)

    x = torch.ones(2, 4, requires_grad=True)
    for _ in range(3):
        x = f(x)


def deterministic_algorithms():
    _apply(torch.ones(2, 4))
    torch.use_deterministic_algorithms(True)
    _apply(torch.ones(2, 4))


def number_of_threads():
    _apply(torch.ones(2, 4))
    torch.set_num_threads(torch.get_num_threads() + 1)
    _apply(torch.ones(2, 4))


def precision_of_products():
    _apply(torch.ones(2, 4))
    torch.set_float32_matmul_precision("high")
    _apply(torch.ones(2, 4))


def default_device():
    @torch.compile
    def f(x):
        return x + torch.ones(3)

    f(torch.ones(3))
    torch.set_default_device("cpu")
    f(torch.ones(3))


def function_mode_around():
    class Pass(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    _apply(torch.ones(2, 4))
    with Pass():
        _apply(torch.ones(2, 4))


def saved_tensors_on_disk():
    def pack(x):
        return x.clone()

    _apply(torch.ones(2, 4)).sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        _apply(torch.ones(2, 4)).sum().backward()


def two_states_at_once():
    x = torch.ones(2, 4)
    _apply(x)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        _apply(x)


def anomaly_detection():
    _apply(torch.ones(2, 4)).sum().backward()
    with torch.autograd.set_detect_anomaly(True):
        _apply(torch.ones(2, 4)).sum().backward()


def reset_between():
    _apply(torch.ones(2, 4))
    _apply(torch.ones(3, 4))
    torch._dynamo.reset()
    _apply(torch.ones(2, 4))
    _apply(torch.ones(3, 4))


def reset_with_another_function():
    _apply(torch.ones(2, 4))
    torch._dynamo.reset()
    other = torch.compile(lambda x: x * 2)
    other(torch.ones(2))
    other(torch.ones(3))
    _apply(torch.ones(2, 4))


def stance_eager_on_recompile():
    _apply(torch.ones(2, 4))
    with torch.compiler.set_stance("eager_on_recompile"):
        _apply(torch.ones(3, 4))
    _apply(torch.ones(3, 4))


def stance_force_eager():
    with torch.compiler.set_stance("force_eager"):
        _apply(torch.ones(3, 4))
    _apply(torch.ones(2, 4))


def stance_fail_on_recompile():
    _apply(torch.ones(2, 4))
    with torch.compiler.set_stance("fail_on_recompile"):
        _apply(torch.ones(3, 4))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
