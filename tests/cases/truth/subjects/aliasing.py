"""Inputs that are the same tensor, or share memory, in one call and not in the next."""

import sys

import torch


@torch.compile
def _add_to_first(x, y):
    x.add_(1)
    return x * y


def same_tensor_then_two():
    x = torch.ones(4)
    _add_to_first(x, x)
    _add_to_first(x, torch.ones(4))


def two_tensors_then_same():
    x = torch.ones(4)
    _add_to_first(x, torch.ones(4))
    _add_to_first(x, x)


def overlapping_views():
    base = torch.ones(8)
    _add_to_first(base[:4], base[4:])
    _add_to_first(base[:4], base[2:6])


def disjoint_views_of_one_base():
    base = torch.ones(8)
    _add_to_first(torch.ones(4), torch.ones(4))
    _add_to_first(base[:4], base[4:])
    _add_to_first(base[2:6], base[:4])


def view_returned_and_given_again():
    @torch.compile
    def f(x):
        return x.view(-1)[1:]

    y = f(torch.ones(2, 4))
    f(y.view(1, 7))
    f(y[1:].view(2, 3))


def input_returned_as_it_is():
    @torch.compile
    def f(x, y):
        return x, x + y

    x = torch.ones(3)
    same, total = f(x, x.clone())
    f(same, total)
    f(total, total)


def detached_alias():
    @torch.compile
    def f(x, y):
        return x * 2 + y

    x = torch.ones(3, requires_grad=True)
    f(x, x)
    f(x, x.detach())
    f(x.detach(), x)


def same_list_twice():
    @torch.compile
    def f(xs, ys):
        xs.append(xs[0] + 1)
        return ys[-1] * 2

    xs = [torch.ones(2)]
    f(xs, xs)
    f([torch.ones(2)], [torch.ones(2)])


def parameter_shared_by_two_modules():
    first, second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    f = torch.compile(lambda x: second(first(x)))
    f(torch.ones(1, 4))
    second.weight = first.weight
    f(torch.ones(1, 4))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
