"""Ends well, and leaves fifty children behind that wait for ever, some of them in hiding."""

import os
import signal

import torch
from seen import seen

seen(torch.ones(3))
for number in range(50):
    if os.fork() == 0:
        if number % 5 == 0:
            os.setsid()
        if number % 10 == 0 and os.fork() != 0:
            os._exit(0)
        while True:
            signal.pause()
