"""A buffer of a module grows."""

# cause: size of `self.cache` at dimension 0 was 4, is now 8
# advice: torch._dynamo.mark_dynamic(self.cache, 0)

import torch


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.resize(4)

    def resize(self, size):
        self.cache = torch.ones(size)
        # fix: torch._dynamo.mark_dynamic(self.cache, 0)

    def forward(self, x):
        return x + self.cache.sum()  # expect: recompile [self.cache]


if __name__ == "__main__":
    model = Cache()
    compiled = torch.compile(model)
    compiled(torch.ones(2))
    model.resize(8)
    compiled(torch.ones(2))
