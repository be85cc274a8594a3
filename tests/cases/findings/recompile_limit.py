"""A string that is new in each call: compiled until the limit."""

import torch


@torch.compile
def f(x, word):  # expect: recompile-limit [f]
    return x + len(word)  # expect: recompile [word]


if __name__ == "__main__":
    for size in range(12):
        f(torch.ones(2), "a" * size)
