"""GB0007: Attempted to call function marked as skipped."""

import zlib

import torch


@torch.compile
def tag(x, name):
    y = x * 2
    key = zlib.crc32(name)  # expect: GB0007 [zlib.crc32(name)]
    return y + key % 7


if __name__ == "__main__":
    tag(torch.ones(2), b"encoder")
