"""Whether there is a GPU, without opening it."""

from __future__ import annotations

import os
import sys
from typing import Final

GPU_DEVICES: Final = ("/dev/nvidiactl", "/dev/kfd")
"""What a process has open that uses a GPU, on Linux."""


def has_gpu() -> bool:
    """Whether torch may find a GPU here. To ask it would open the GPU."""
    import torch

    if torch.version.cuda is None and torch.version.hip is None:
        return False
    return sys.platform != "linux" or any(map(os.path.exists, GPU_DEVICES))
