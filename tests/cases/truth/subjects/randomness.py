"""The state of random numbers."""

import sys

import torch


def dropout_in_training():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    compiled = torch.compile(model)
    for _ in range(2):
        compiled(torch.ones(2, 4)).sum().backward()
    model.eval()
    compiled(torch.ones(2, 4))


def noise_added():
    @torch.compile
    def f(x):
        return x + torch.randn_like(x) + torch.rand(x.shape[0])

    for size in (3, 4, 5):
        f(torch.ones(size))


def seeded_inside():
    @torch.compile
    def f(x):
        torch.manual_seed(0)
        return x + torch.rand(3)

    f(torch.ones(3))
    f(torch.ones(3))


def generator_given():
    @torch.compile
    def f(x, generator):
        return x + torch.rand(3, generator=generator)

    generator = torch.Generator().manual_seed(0)
    f(torch.ones(3), generator)
    f(torch.ones(3), generator)


def python_random():
    import random

    @torch.compile
    def f(x):
        return x * random.random() + random.randint(0, 3)

    random.seed(0)
    for _ in range(3):
        f(torch.ones(3))


def numpy_random():
    import numpy

    @torch.compile
    def f(x):
        return x + torch.from_numpy(numpy.random.rand(3))

    f(torch.ones(3))
    f(torch.ones(3))


def state_kept_and_set():
    @torch.compile
    def f(x):
        state = torch.get_rng_state()
        y = x + torch.rand(3)
        torch.set_rng_state(state)
        return y * torch.rand(3)

    f(torch.ones(3))
    f(torch.ones(3))


def bernoulli_in_place():
    @torch.compile
    def f(x):
        return torch.empty_like(x).bernoulli_(0.5) * x

    f(torch.ones(3))
    f(torch.ones(4))


def multinomial_comes_back():
    @torch.compile
    def f(x):
        return torch.multinomial(x, 2).float() + 1

    x = torch.ones(3)
    for _ in range(3):
        x = f(x)


def permutation():
    @torch.compile
    def f(x):
        return x[torch.randperm(x.shape[0])]

    for size in (3, 4):
        f(torch.ones(size))


def distribution():
    @torch.compile
    def f(mean):
        normal = torch.distributions.Normal(mean, 1.0)
        sample = normal.rsample()
        return normal.log_prob(sample)

    f(torch.zeros(3))
    f(torch.zeros(4))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
