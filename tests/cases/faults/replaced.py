"""Puts its own functions in the place of those that tell what it does."""

import json
import os

import torch
from seen import seen

os.getpid = lambda: 1
json.JSONEncoder.default = os.write = os._exit = None
seen(torch.ones(3))
