"""The limit under fullgraph=True stops the program, and is told once."""

import torch


@torch.compile(fullgraph=True)
def f(x, word):  # expect: recompile-limit [f]
    return x + len(word)  # expect: recompile [word]


if __name__ == "__main__":
    for size in range(12):
        f(torch.ones(2), "a" * size)
