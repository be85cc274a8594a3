"""A tensor subclass whose metadata change."""

# cause: metadata of `x` was 2, is now 5
# advice: The metadata that `__tensor_flatten__` of `x` returns
# fix: none (each value is a graph of its own)

import torch


class Scaled(torch.Tensor):
    @staticmethod
    def __new__(cls, data, scale):
        return torch.Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype)

    def __init__(self, data, scale):
        self.data_, self.scale = data, scale

    def __tensor_flatten__(self):
        return ["data_"], self.scale

    @staticmethod
    def __tensor_unflatten__(inner, scale, size, stride):
        return Scaled(inner["data_"], scale)

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs=None):
        scale = next(each.scale for each in args if isinstance(each, Scaled))
        plain = [each.data_ if isinstance(each, Scaled) else each for each in args]
        return Scaled(func(*plain, **(kwargs or {})), scale)


@torch.compile
def f(x):
    return x.sin()  # expect: recompile [x]


if __name__ == "__main__":
    for scale in (2, 5):
        f(Scaled(torch.ones(3), scale))
