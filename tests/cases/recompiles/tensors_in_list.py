"""The tensors of a list have another size."""

# cause: size of `features[0]` at dimension 0 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(features[1], 0)

import torch


@torch.compile
def f(features):
    return [feature * 2 for feature in features]  # expect: recompile [features]


if __name__ == "__main__":
    for size in (10, 12):
        features = [torch.ones(size), torch.ones(size + 1)]
        # fix: torch._dynamo.mark_dynamic(features[0], 0)
        # fix: torch._dynamo.mark_dynamic(features[1], 0)
        f(features)
