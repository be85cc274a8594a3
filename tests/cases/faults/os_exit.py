"""Leaves without a word after its finding."""

import os

import torch
from seen import seen

seen(torch.ones(3))
os._exit(3)
