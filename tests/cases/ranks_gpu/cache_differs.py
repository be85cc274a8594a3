"""Rank 1 has another cache than the others, and compiles what they find there.

Run it twice with the same folder in CACHES: first with `shared`, where all ranks fill one cache, then with
`own`, where rank 1 has an empty one.
"""

import os
import sys

device, which = sys.argv[1:]
rank = os.environ["RANK"]
of_rank = "cold" if which == "own" and rank == "1" else "warm"
os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.environ["CACHES"], of_rank)

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402


@torch.compile
def normalized(x):  # differs: cache
    return (x - x.mean()) / x.std()


@torch.compile(backend="eager")
def same(x):
    return x + 1


def main():
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    normalized(same(torch.randn(64, device=device)))
    dist.barrier()
    dist.destroy_process_group()


main()
