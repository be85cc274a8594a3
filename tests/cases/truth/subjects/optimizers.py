"""Steps of optimizers, eager and compiled, with schedules."""

import sys

import torch


def _compiled_steps(make, steps=4, change=None):
    model = torch.nn.Linear(3, 3)
    optimizer = make(model.parameters())
    step = torch.compile(optimizer.step)
    for number in range(steps):
        model(torch.ones(2, 3)).sum().backward()
        step()
        optimizer.zero_grad()
        if change:
            change(optimizer, number)


def _set_rate(optimizer, number):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 / (number + 2)


def sgd():
    _compiled_steps(lambda parameters: torch.optim.SGD(parameters, lr=0.1))


def sgd_with_momentum():
    _compiled_steps(lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9))


def sgd_with_schedule():
    _compiled_steps(lambda parameters: torch.optim.SGD(parameters, lr=0.1), change=_set_rate)


def adam():
    _compiled_steps(lambda parameters: torch.optim.Adam(parameters, lr=0.1))


def adam_with_schedule():
    _compiled_steps(lambda parameters: torch.optim.Adam(parameters, lr=0.1), change=_set_rate)


def adam_with_tensor_rate():
    def change(optimizer, number):
        optimizer.param_groups[0]["lr"].fill_(0.1 / (number + 2))

    _compiled_steps(lambda parameters: torch.optim.Adam(parameters, lr=torch.tensor(0.1)), change=change)


def adamw_capturable():
    _compiled_steps(lambda parameters: torch.optim.AdamW(parameters, capturable=False, foreach=False))


def rmsprop():
    _compiled_steps(lambda parameters: torch.optim.RMSprop(parameters, lr=0.1, momentum=0.5))


def adagrad():
    _compiled_steps(lambda parameters: torch.optim.Adagrad(parameters, lr=0.1))


def lbfgs():
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)

    @torch.compile
    def loss():
        return model(torch.ones(2, 3)).square().sum()

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for _ in range(2):
        optimizer.step(closure)


def whole_training_step():
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile
    def train(x):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    for size in (2, 2, 3):
        train(torch.ones(size, 3))


def averaged_weights():
    model = torch.nn.Linear(3, 3)
    average = [p.detach().clone() for p in model.parameters()]

    @torch.compile
    def update(decay):
        with torch.no_grad():
            for mean, parameter in zip(average, model.parameters()):
                mean.lerp_(parameter, 1 - decay)

    for step in range(4):
        update(min(0.9, (1 + step) / (10 + step)))


def gradients_clipped():
    model = torch.nn.Linear(3, 3)

    @torch.compile
    def clip(limit):
        torch.nn.utils.clip_grad_norm_(model.parameters(), limit)

    for limit in (1.0, 0.5, 0.25):
        model(torch.ones(2, 3)).sum().backward()
        clip(limit)


def gradients_missing():
    first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
    step = torch.compile(optimizer.step)
    for model in (first, second, first):
        model(torch.ones(2, 3)).sum().backward()
        step()
        optimizer.zero_grad()


def added_group():
    model, more = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = torch.compile(optimizer.step)
    for number in range(3):
        (model(torch.ones(2, 3)) + more(torch.ones(2, 3))).sum().backward()
        step()
        if number == 0:
            optimizer.add_param_group({"params": list(more.parameters()), "lr": 0.01})


if __name__ == "__main__":
    globals()[sys.argv[1]]()
