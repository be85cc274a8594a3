"""Work on a stream of its own."""

import torch

device = "cuda"


@torch.compile
def double(x):
    return x.sin() * 2


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 256, device=device)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        out = double(x)
    torch.cuda.current_stream().wait_stream(stream)
