"""Numbers among the arguments: floats, integers, booleans, in containers and attributes."""

import sys

import torch


def _over(function, values):
    compiled = torch.compile(function)
    for value in values:
        compiled(torch.ones(4), value)


def float_times():
    _over(lambda x, s: x * s, (0.5, 0.25, 0.125, 0.1))


def float_in_condition():
    _over(lambda x, s: x * s if s > 0.2 else x, (0.5, 0.25, 0.125, 0.1))


def float_minus_tensor():
    _over(lambda x, s: (1 - s) * x + s, (0.5, 0.25, 0.125, 0.1))


def float_as_exponent():
    _over(lambda x, s: x**s, (0.5, 2.0, 3.0, 0.1))


def float_into_full():
    _over(lambda x, s: x + torch.full((4,), s), (0.5, 0.25, 0.125))


def float_into_clamp():
    _over(lambda x, s: x.clamp(min=s), (0.5, 0.25, 0.125))


def float_into_dropout():
    _over(lambda x, p: torch.nn.functional.dropout(x, p), (0.5, 0.25, 0.125))


def float_into_layer_norm():
    _over(lambda x, eps: torch.nn.functional.layer_norm(x, (4,), eps=eps), (1e-5, 1e-6, 1e-3))


def float_alpha():
    _over(lambda x, s: torch.add(x, x, alpha=s), (0.5, 0.25, 0.125))


def float_addcmul():
    _over(lambda x, s: torch.addcmul(x, x, x, value=s), (0.5, 0.25, 0.125))


def float_scaled_attention():
    def f(x, s):
        y = x.view(1, 1, 2, 2)
        return torch.nn.functional.scaled_dot_product_attention(y, y, y, scale=s)

    _over(f, (0.5, 0.25, 0.125))


def float_arithmetic_first():
    _over(lambda x, s: x * (s * 2 + 1) / (1 - s), (0.5, 0.25, 0.125, 0.0625))


def float_to_int():
    _over(lambda x, s: x[: int(s)], (1.5, 2.5, 3.5))


def float_by_math():
    import math

    _over(lambda x, s: x * math.sqrt(s) + math.sin(s), (0.5, 0.25, 0.125))


def float_nan_and_infinity():
    _over(lambda x, s: x + s, (float("nan"), float("nan"), float("inf"), 1.0))


def float_zero_and_negative_zero():
    _over(lambda x, s: x * s, (0.0, -0.0, 0.0))


def float_returned():
    _over(lambda x, s: (x * s, s * 2), (0.5, 0.25, 0.125))


def float_compared_with_tensor():
    _over(lambda x, s: x > s, (0.5, 0.25, 0.125))


def float_and_int():
    _over(lambda x, s: x * s, (1, 1.0, 2, 2.0))


def integer_times():
    _over(lambda x, n: x * n, (2, 3, 4, 5))


def integer_zero_and_one():
    _over(lambda x, n: x + n, (0, 1, 2, 3))


def integer_negative():
    _over(lambda x, n: x + n, (2, -3, -4, 5))


def integer_as_size():
    _over(lambda x, n: torch.zeros(n).sum() + x, (2, 3, 4, 1))


def integer_as_loop_count():
    def f(x, n):
        for _ in range(n):
            x = x + 1
        return x

    _over(f, (2, 3, 4))


def integer_as_dimension():
    compiled = torch.compile(lambda x, d: x.sum(d))
    for dimension in (0, 1, -1):
        compiled(torch.ones(2, 3, 4), dimension)


def integer_in_modulo():
    _over(lambda x, n: x + 1 if n % 2 else x - 1, (2, 3, 4, 5))


def integer_as_power():
    _over(lambda x, n: x**n, (2, 3, 4))


def integer_very_large():
    _over(lambda x, n: x + n, (2, 2**40, 2**62))


def boolean():
    _over(lambda x, flag: x + 1 if flag else x - 1, (True, False, True))


def none_or_number():
    _over(lambda x, n: x if n is None else x * n, (None, 2, None, 0.5))


def string():
    _over(lambda x, mode: x.sum() if mode == "sum" else x.mean(), ("sum", "mean", "sum"))


def tuple_of_numbers():
    _over(lambda x, pair: x * pair[0] + pair[1], ((1.0, 2), (1.5, 2), (1.5, 3)))


def dictionary_of_numbers():
    _over(lambda x, d: x * d["scale"], ({"scale": 2}, {"scale": 3}, {"scale": 4, "other": 1}))


def list_grows():
    _over(lambda x, items: x + sum(items), ([1], [1, 2], [1, 2, 3]))


def numpy_number():
    import numpy

    _over(lambda x, n: x * n, (numpy.float32(2), numpy.float32(3), numpy.int64(4)))


def enumeration():
    import enum

    class Mode(enum.Enum):
        A = 1
        B = 2

    _over(lambda x, mode: x + 1 if mode is Mode.A else x - 1, (Mode.A, Mode.B, Mode.A))


def attribute_counts():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = 0

        def forward(self, x):
            self.steps += 1
            return x * self.steps

    model = torch.compile(Counter())
    for _ in range(4):
        model(torch.ones(3))


def float_attribute_decays():
    class Decay(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rate = 1.0

        def forward(self, x):
            self.rate = self.rate * 0.9
            return x * self.rate

    model = torch.compile(Decay())
    for _ in range(4):
        model(torch.ones(3))


def float_closure():
    scale = 0.5

    @torch.compile
    def f(x):
        return x * scale

    for value in (0.5, 0.25, 0.125):
        scale = value
        f(torch.ones(3))


def tensor_scalar_instead():
    _over(lambda x, s: x * s, tuple(torch.tensor(v) for v in (0.5, 0.25, 0.125)))


def item_captured():
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        _over(lambda x, s: x * s.item(), tuple(torch.tensor(v) for v in (0.5, 0.25, 0.125)))


def float_dynamic():
    compiled = torch.compile(lambda x, s: x * s + s, dynamic=True)
    for value in (0.5, 0.25, 0.125):
        compiled(torch.ones(4), value)


def float_not_dynamic():
    compiled = torch.compile(lambda x, s: x * s + s, dynamic=False)
    for value in (0.5, 0.25, 0.125):
        compiled(torch.ones(4), value)


def float_into_backward():
    compiled = torch.compile(lambda x, s: (x * s).sin())
    for value in (0.5, 0.25, 0.125):
        compiled(torch.ones(4, requires_grad=True), value).sum().backward()


def float_of_item():
    compiled = torch.compile(lambda x, s: x - s * x.grad)
    x = torch.ones(4, requires_grad=True)
    x.sum().backward()
    with torch.no_grad():
        for value in (0.5, 0.25, 0.125):
            compiled(x, value)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
