"""Find out whether there is a GPU, without opening it."""

from __future__ import annotations

import os
import sys
from typing import Final

GPU_DEVICES: Final = ("/dev/nvidiactl", "/dev/kfd")
"""The device files that every process that uses a GPU has open, on Linux."""


def has_gpu() -> bool:
    """Return whether torch may find a GPU; torch's own check would open the GPU."""
    import torch

    if torch.version.cuda is None and torch.version.hip is None:
        return False
    return sys.platform != "linux" or any(map(os.path.exists, GPU_DEVICES))
