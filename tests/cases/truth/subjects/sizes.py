"""Sizes that change: which become symbolic, which become numbers, and where they are compared."""

import sys

import torch


def _over(function, sizes, **options):
    compiled = torch.compile(function, **options)
    for size in sizes:
        compiled(torch.ones(*size))


def one_size_then_others():
    _over(lambda x: x + 1, [(2, 3), (3, 3), (4, 3), (5, 3)])


def size_one_among_them():
    _over(lambda x: x + 1, [(2, 3), (1, 3), (4, 3), (1, 3)])


def size_zero_among_them():
    _over(lambda x: x + 1, [(2, 3), (0, 3), (4, 3)])


def both_sizes():
    _over(lambda x: x.sum(), [(2, 3), (3, 3), (3, 4), (5, 6)])


def equal_sizes_then_not():
    _over(lambda x: x @ x if x.shape[0] == x.shape[1] else x.sum(), [(2, 2), (3, 3), (3, 4)])


def number_of_dimensions():
    _over(lambda x: x * 2, [(2,), (2, 3), (2, 3, 4)])


def branch_on_size():
    _over(lambda x: x + 1 if x.shape[0] > 4 else x - 1, [(2,), (3,), (6,), (8,)])


def loop_over_size():
    def f(x):
        for row in range(x.shape[0]):
            x = x + row
        return x

    _over(f, [(2,), (3,), (4,)])


def unpacked_rows():
    _over(lambda x: sum(x.unbind()), [(2, 3), (3, 3), (4, 3)])


def split_in_two():
    _over(lambda x: x.chunk(2)[0], [(4,), (6,), (8,)])


def viewed_as_pairs():
    _over(lambda x: x.view(-1, 2).sum(1), [(4,), (6,), (8,)])


def size_as_number_in_graph():
    _over(lambda x: x * x.shape[0] / x.numel(), [(2, 3), (3, 3), (4, 3)])


def size_to_float():
    _over(lambda x: x / float(x.shape[0]) ** 0.5, [(2, 3), (3, 3), (4, 3)])


def arange_of_size():
    _over(lambda x: x + torch.arange(x.shape[0]), [(2,), (3,), (4,)])


def mask_of_size():
    _over(lambda x: x.tril().softmax(-1), [(2, 2), (3, 3), (4, 4)])


def dynamic_true():
    _over(lambda x: x + 1, [(2, 3), (3, 4), (1, 4), (0, 2)], dynamic=True)


def dynamic_false():
    _over(lambda x: x + 1, [(2, 3), (3, 3), (4, 3)], dynamic=False)


def marked_dynamic():
    compiled = torch.compile(lambda x: x + 1)
    for size in (2, 3, 4):
        x = torch.ones(size, 3)
        torch._dynamo.mark_dynamic(x, 0)
        compiled(x)


def marked_dynamic_but_constant():
    compiled = torch.compile(lambda x: x + torch.ones(4))
    x = torch.ones(4)
    torch._dynamo.mark_dynamic(x, 0)
    compiled(x)


def marked_static():
    compiled = torch.compile(lambda x: x + 1)
    for size in (2, 3, 4):
        x = torch.ones(size, 3)
        torch._dynamo.mark_static(x, 0)
        compiled(x)


def marked_maybe():
    compiled = torch.compile(lambda x: x + torch.ones(4))
    x = torch.ones(4)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    compiled(x)


def marked_unbacked():
    compiled = torch.compile(lambda x: x * 2)
    for size in (0, 1, 4):
        x = torch.ones(size)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        compiled(x)


def two_tensors_one_size():
    compiled = torch.compile(lambda x, y: x + y)
    for size in (2, 3, 4):
        compiled(torch.ones(size), torch.ones(size))


def two_tensors_broadcast():
    compiled = torch.compile(lambda x, y: x + y)
    for first, second in ((4, 4), (6, 6), (6, 1), (1, 5)):
        compiled(torch.ones(first), torch.ones(second))


def product_of_sizes():
    compiled = torch.compile(lambda x, y: x.reshape(y.shape[0], -1).sum(1))
    for rows, columns in ((2, 6), (3, 6), (4, 8)):
        compiled(torch.ones(rows * columns), torch.ones(rows))


def strided_input():
    compiled = torch.compile(lambda x: x * 2)
    for size in (4, 6, 8):
        compiled(torch.ones(size, 8)[:, ::2])


def convolution():
    conv = torch.nn.Conv2d(2, 2, 3)
    compiled = torch.compile(conv)
    with torch.no_grad():
        for size in (6, 8, 10):
            compiled(torch.ones(1, 2, size, size))


def pooled_to_one():
    compiled = torch.compile(lambda x: torch.nn.functional.adaptive_avg_pool2d(x, 2))
    for size in (4, 6, 8, 9):
        compiled(torch.ones(1, 2, size, size))


def interpolated():
    compiled = torch.compile(lambda x: torch.nn.functional.interpolate(x, scale_factor=1.5, mode="bilinear"))
    for size in (4, 6, 8):
        compiled(torch.ones(1, 2, size, size))


def batch_norm_of_one():
    norm = torch.nn.BatchNorm1d(3)
    compiled = torch.compile(norm)
    for size in (4, 3, 2):
        compiled(torch.randn(size, 3))


def lists_of_several_lengths():
    compiled = torch.compile(lambda xs: torch.cat(xs))
    for length in (1, 2, 3):
        compiled([torch.ones(2)] * length)


def dictionaries_of_tensors():
    compiled = torch.compile(lambda d: {key: value + 1 for key, value in d.items()})
    compiled({"a": torch.ones(2)})
    compiled({"a": torch.ones(3)})
    compiled({"a": torch.ones(3), "b": torch.ones(2)})


def embedding_of_lengths():
    table = torch.nn.Embedding(16, 4)
    compiled = torch.compile(table)
    for length in (2, 5, 7):
        compiled(torch.arange(length)).sum().backward()


def size_checked():
    def f(x):
        torch._check(x.shape[0] % 2 == 0)
        return x.view(2, -1)

    _over(f, [(4,), (6,), (8,)])


def size_in_attribute():
    class Remember(torch.nn.Module):
        def forward(self, x):
            self.length = x.shape[0]
            return x * self.length

    model = torch.compile(Remember())
    for size in (2, 3, 4):
        model(torch.ones(size))


def parameter_of_other_size():
    compiled = torch.compile(lambda layer, x: layer(x))
    for size in (2, 3, 4):
        compiled(torch.nn.Linear(size, 2), torch.ones(1, size))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
