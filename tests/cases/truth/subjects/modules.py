"""Modules: modes, replaced parts, many instances of one class."""

import sys

import torch


class _Block(torch.nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.scale = scale

    def forward(self, x):
        return self.linear(x) * self.scale


def training_or_not():
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()))
    model(torch.ones(1, 3))
    model.eval()
    model(torch.ones(1, 3))
    model.train()
    model(torch.ones(1, 3))


def instances_compiled_apart():
    for width in (2, 3, 4):
        torch.compile(_Block(width))(torch.ones(1, width))


def instances_of_several_scales():
    for scale in (1.0, 2.0, 3.0, 4.0):
        torch.compile(_Block(3, scale))(torch.ones(1, 3))


def blocks_compiled_in_place():
    model = torch.nn.Sequential(*(_Block(3) for _ in range(3)))
    for block in model:
        block.compile()
    model(torch.ones(1, 3))
    model(torch.ones(2, 3))


def more_instances_than_the_limit():
    for width in range(2, 13):
        torch.compile(_Block(width, scale=width))(torch.ones(1, width))


def layer_replaced():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3))
    model[1] = torch.nn.Tanh()
    compiled(torch.ones(1, 3))


def layer_added():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3))
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3))
    model.append(torch.nn.ReLU())
    compiled(torch.ones(1, 3))


def list_of_layers():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(_Block(3, float(n)) for n in range(3))

        def forward(self, x, last):
            for layer in self.layers[:last]:
                x = layer(x)
            return x

    model = torch.compile(Net())
    for last in (1, 2, 3):
        model(torch.ones(1, 3), last)


def parameters_loaded():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3))
    model.load_state_dict({name: value * 2 for name, value in model.state_dict().items()})
    compiled(torch.ones(1, 3))
    model.load_state_dict({name: value * 2 for name, value in model.state_dict().items()}, assign=True)
    compiled(torch.ones(1, 3))


def converted():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3))
    model.double()
    compiled(torch.ones(1, 3, dtype=torch.double))


def normalised_weight():
    model = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 3))
    compiled = torch.compile(model)
    for _ in range(2):
        compiled(torch.ones(1, 3)).sum().backward()


def lazy_layer():
    compiled = torch.compile(torch.nn.LazyLinear(2))
    compiled(torch.ones(1, 3))
    compiled(torch.ones(2, 3))


def recurrent():
    model = torch.nn.LSTM(3, 4)
    compiled = torch.compile(model)
    for length in (2, 3):
        compiled(torch.ones(length, 1, 3))


def transformer_layer():
    model = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    compiled = torch.compile(model)
    for length in (3, 4):
        compiled(torch.ones(2, length, 8))
    model.eval()
    with torch.no_grad():
        compiled(torch.ones(2, 4, 8))


def method_compiled():
    class Net(_Block):
        @torch.compile
        def step(self, x, n):
            return self(x) + n

    net, other = Net(3), Net(3, 2.0)
    net.step(torch.ones(1, 3), 1)
    net.step(torch.ones(1, 3), 2)
    other.step(torch.ones(1, 3), 2)


def attribute_deleted():
    model = _Block(3)
    model.extra = 1

    @torch.compile
    def f(x):
        return model(x) + getattr(model, "extra", 0)

    f(torch.ones(1, 3))
    del model.extra
    f(torch.ones(1, 3))


def wrapped_twice():
    model = torch.compile(torch.compile(_Block(3)))
    model(torch.ones(1, 3))
    model(torch.ones(2, 3))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
