"""Sizes and numbers that only the data knows."""

import sys

import torch

_captured = torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True)


def _over(function, values, **options):
    compiled = torch.compile(function, **options)
    with _captured:
        for value in values:
            compiled(value)


def zeros_of_item():
    _over(lambda x: torch.zeros(x.item()) + 1, [torch.tensor(n) for n in (2, 3, 4)])


def nonzero_rows():
    _over(lambda x: x.nonzero() * 2, [torch.tensor([0, 1, 2]), torch.tensor([0, 0, 2]), torch.zeros(3)])


def masked():
    _over(lambda x: x[x > 0].sum(), [torch.tensor([0.0, 1, 2]), torch.tensor([0.0, 1, 2, 3])])


def branch_on_item():
    def f(x):
        return x + 1 if x.sum().item() > 2 else x - 1

    _over(f, [torch.ones(2), torch.ones(3)])


def checked_item():
    def f(x):
        n = x.max().item()
        torch._check(n >= 0)
        torch._check(n < 4)
        return torch.arange(4)[n:]

    _over(f, [torch.tensor([0, 1]), torch.tensor([2, 3])])


def split_by_data():
    def f(x):
        sizes = x.tolist()
        return torch.split(torch.ones(6), sizes)

    _over(f, [torch.tensor([2, 4]), torch.tensor([3, 3])])


def repeat_by_data():
    _over(lambda x: torch.ones(3).repeat_interleave(x), [torch.tensor([1, 2, 3]), torch.tensor([2, 2, 2])])


def unique_values():
    _over(lambda x: x.unique().sum(), [torch.tensor([1, 1, 2]), torch.tensor([1, 2, 3])])


def returned_and_given_again():
    compiled = torch.compile(lambda x: x[x > 0] + 1)
    x = torch.tensor([-1.0, 1, 2])
    with _captured:
        for _ in range(3):
            x = compiled(x)


def returned_number_given_again():
    compiled = torch.compile(lambda x, n: (x * n, (x.sum().item())))
    n = 2.0
    with _captured:
        for _ in range(3):
            _, n = compiled(torch.ones(3), n)


def without_capture():
    compiled = torch.compile(lambda x: torch.zeros(x.item()) + 1)
    compiled(torch.tensor(2))
    compiled(torch.tensor(3))


def nonzero_without_capture():
    compiled = torch.compile(lambda x: (x + 1).nonzero() * 2)
    compiled(torch.tensor([0, 1, 2]))
    compiled(torch.tensor([-1, 1, 2]))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
