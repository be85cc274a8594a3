"""GB0193: invalid call to builtin op handler."""

import torch


class Base:
    def scale(self, x):
        return x * 2


class Derived(Base):
    def scale(self, x):
        return super(Derived).scale  # expect(<2.15): GB0193 [super(Derived)]  # expect(>=2.15): GB0088 [super(Derived)]


@torch.compile
def f(x, obj):
    y = x * 2
    return obj.scale(y)


if __name__ == "__main__":
    try:
        f(torch.ones(2), Derived())
    except AttributeError:
        pass
