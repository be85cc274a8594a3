"""Settings in an INI file are changed."""

import configparser

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

settings = configparser.ConfigParser()
settings.read("settings.ini")
settings["model"]["width"] = "8"
with open("settings.ini", "w") as file:
    settings.write(file)
settings = configparser.ConfigParser()
settings.read("settings.ini")
assert settings.getint("model", "width") == 8
print("end configparser_write")
