"""Strides and memory formats of results that are inputs of the next call."""

import sys

import torch


def _again(function, x, times=3):
    compiled = torch.compile(function)
    for _ in range(times):
        x = compiled(x)


def transposed_result():
    _again(lambda x: (x + 1).transpose(0, 1), torch.ones(4, 4))


def product_of_transposed():
    _again(lambda x: x.t() @ x, torch.ones(4, 4))


def sum_of_permuted():
    _again(lambda x: x.permute(2, 0, 1) + 1, torch.ones(4, 4, 4))


def expanded_result():
    _again(lambda x: x[:, :1].expand(4, 4), torch.ones(4, 4))


def expanded_and_copied():
    _again(lambda x: x[:, :1].expand(4, 4) * 2, torch.ones(4, 4))


def concatenated_permuted():
    _again(lambda x: torch.cat([x.transpose(1, 2), x.transpose(1, 2)], -1)[..., :4], torch.ones(2, 4, 4))


def channels_last_through_convolution():
    conv = torch.nn.Conv2d(4, 4, 3, padding=1)
    with torch.no_grad():
        _again(lambda x: conv(x).relu(), torch.ones(2, 4, 8, 8).to(memory_format=torch.channels_last))


def contiguous_through_channels_last_convolution():
    conv = torch.nn.Conv2d(4, 4, 3, padding=1).to(memory_format=torch.channels_last)
    with torch.no_grad():
        _again(lambda x: conv(x).relu(), torch.ones(2, 4, 8, 8))


def pooled_and_upsampled():
    def f(x):
        return torch.nn.functional.interpolate(torch.nn.functional.max_pool2d(x, 2), scale_factor=2)

    _again(f, torch.ones(2, 4, 8, 8).to(memory_format=torch.channels_last))


def normalised_permuted():
    _again(lambda x: torch.nn.functional.layer_norm(x.transpose(1, 2), (4,)), torch.ones(2, 4, 4))


def softmax_of_transposed():
    _again(lambda x: x.transpose(0, 1).softmax(-1), torch.ones(4, 4))


def attention_of_transposed():
    def f(x):
        heads = x.view(2, 4, 2, 8).transpose(1, 2)
        y = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        return y.transpose(1, 2).reshape(2, 4, 16)

    _again(f, torch.randn(2, 4, 16))


def attention_result_as_it_is():
    def f(x):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    _again(f, torch.randn(2, 4, 2, 8).transpose(1, 2))


def indexed_by_tensor():
    _again(lambda x: x[:, torch.tensor([1, 0, 3, 2])], torch.ones(4, 4))


def sliced_with_step():
    _again(lambda x: torch.cat([x[::2], x[::2]]), torch.ones(4, 4))


def where_of_two_layouts():
    _again(lambda x: torch.where(x > 0, x.t(), x), torch.randn(4, 4))


def einsum_result():
    _again(lambda x: torch.einsum("ij,kj->ki", x, x), torch.ones(4, 4))


def reduced_and_kept():
    _again(lambda x: x.transpose(0, 1).cumsum(0), torch.ones(4, 4))


def memory_format_changes():
    @torch.compile
    def f(x):
        return x * 2

    f(torch.ones(2, 4, 8, 8))
    f(torch.ones(2, 4, 8, 8).to(memory_format=torch.channels_last))
    f(torch.ones(2, 4, 8, 8))


def contiguous_or_not():
    @torch.compile
    def f(x):
        return x.view(-1) if x.is_contiguous() else x.reshape(-1) + 1

    f(torch.ones(4, 4))
    f(torch.ones(4, 4).t())


def storage_offset():
    @torch.compile
    def f(x):
        return x + x.storage_offset()

    base = torch.ones(16)
    for start in (0, 4, 8):
        f(base[start : start + 4])


def gradient_layout():
    conv = torch.compile(torch.nn.Conv2d(4, 4, 1))
    x = torch.ones(2, 4, 8, 8, requires_grad=True)
    (grad,) = torch.autograd.grad(conv(x).sum(), x)
    conv(grad)
    (grad,) = torch.autograd.grad(conv(x).permute(0, 2, 3, 1).sum(), x)
    conv(grad)


def recurrent_state():
    cell = torch.nn.GRUCell(4, 4)
    compiled = torch.compile(cell)
    state = torch.zeros(2, 4)
    for _ in range(3):
        state = compiled(torch.ones(2, 4), state)


def size_one_dimension():
    _again(lambda x: (x.transpose(0, 1) + 1).transpose(0, 1), torch.ones(1, 4))


def dynamic_transposed():
    @torch.compile(dynamic=True)
    def f(x):
        return (x + 1).transpose(0, 1)

    x = torch.ones(4, 6)
    for _ in range(3):
        x = f(x)


def padded_result():
    _again(lambda x: torch.nn.functional.pad(x.t(), (0, 1))[:, :4], torch.ones(4, 4))


def stacked_and_moved():
    _again(lambda x: torch.stack([x, x], -1).movedim(-1, 0)[0], torch.ones(4, 4))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
