"""Types of tensors and of views, subclasses, and devices."""

import sys

import torch


def types_change():
    @torch.compile
    def f(x):
        return x + 1

    for dtype in (torch.float32, torch.float64, torch.int64, torch.bool):
        f(torch.ones(3, dtype=dtype))


def view_of_other_type():
    @torch.compile
    def f(x):
        return x.view(torch.int32) + 1

    f(torch.ones(4))
    f(torch.ones(4, dtype=torch.int32))


def view_of_smaller_type():
    @torch.compile
    def f(x):
        return x.view(torch.uint8)

    y = f(torch.ones(4))
    f(y)


def result_of_other_type_comes_back():
    @torch.compile
    def f(x):
        return x * torch.ones(1, dtype=torch.double)

    x = torch.ones(3)
    for _ in range(3):
        x = f(x)


def half_promoted():
    @torch.compile
    def f(x):
        return (x * 2.5).to(torch.float16) + x

    x = torch.ones(3, dtype=torch.bfloat16)
    for _ in range(3):
        x = f(x)


def complex_parts():
    @torch.compile
    def f(x):
        return torch.view_as_real(x * 2)

    f(torch.ones(3, dtype=torch.complex64))
    f(torch.ones(4, dtype=torch.complex64))


def real_of_complex_comes_back():
    @torch.compile
    def f(x):
        return torch.fft.fft(x).real

    x = torch.ones(4)
    for _ in range(3):
        x = f(x)


def default_type_changes():
    @torch.compile
    def f(x):
        return x + torch.ones(3)

    f(torch.ones(3))
    torch.set_default_dtype(torch.double)
    f(torch.ones(3))


def parameter_or_tensor():
    @torch.compile
    def f(x):
        return x * 2

    f(torch.ones(3, requires_grad=True))
    f(torch.nn.Parameter(torch.ones(3)))
    f(torch.ones(3, requires_grad=True))


def own_subclass():
    class Tagged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return super().__torch_function__(function, types, args, kwargs or {})

    @torch.compile
    def f(x):
        return x + 1

    f(torch.ones(3))
    f(torch.ones(3).as_subclass(Tagged))


def numpy_inside():
    @torch.compile
    def f(x):
        return torch.from_numpy(x.numpy() + 1) * 2

    f(torch.ones(3))
    f(torch.ones(4))


def numpy_argument():
    import numpy

    @torch.compile
    def f(x):
        return numpy.sin(x) + 1

    f(numpy.ones(3))
    f(numpy.ones(4, dtype=numpy.float32))


def scalar_tensor():
    @torch.compile
    def f(x, y):
        return x + y

    f(torch.ones(3), torch.tensor(2))
    f(torch.ones(3), torch.tensor(2.0))
    f(torch.ones(3), 2)


def conjugated():
    @torch.compile
    def f(x):
        return x * 2

    x = torch.ones(3, dtype=torch.complex64)
    f(x)
    f(x.conj())


def negated_view():
    @torch.compile
    def f(x):
        return x * 2

    f(torch.ones(3))
    f(torch.ones(3, dtype=torch.complex64).conj().imag)


def quantised_integers():
    @torch.compile
    def f(x, scale):
        return (x / scale).round().clamp(-128, 127).to(torch.int8), x.abs().max() / 127

    scale = torch.tensor(0.1)
    for _ in range(3):
        _, scale = f(torch.randn(4), scale)


def meta_device():
    @torch.compile
    def f(x):
        return x + 1

    f(torch.ones(3))
    f(torch.ones(3, device="meta"))


def sparse_among_dense():
    @torch.compile
    def f(x):
        return x * 2

    f(torch.eye(3))
    f(torch.eye(3).to_sparse())


if __name__ == "__main__":
    globals()[sys.argv[1]]()
