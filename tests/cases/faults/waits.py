"""Waits to be killed, with children, one of them in hiding."""

import os
import signal

import torch
from seen import seen

hidden, ready = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        os.write(ready, b"!")
    while True:
        signal.pause()
os.read(hidden, 1)
seen(torch.ones(3))
while True:
    signal.pause()
