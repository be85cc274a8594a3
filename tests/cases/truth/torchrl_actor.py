"""torchrl: an actor over a TensorDict, batches of several sizes."""
# needs: torchrl

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.modules import MLP, ProbabilisticActor, TanhNormal
from tensordict.nn import NormalParamExtractor

if __name__ == "__main__":
    torch.manual_seed(0)
    net = torch.nn.Sequential(MLP(in_features=4, out_features=4, num_cells=[16]), NormalParamExtractor())
    module = TensorDictModule(net, in_keys=["observation"], out_keys=["loc", "scale"])
    actor = ProbabilisticActor(module, in_keys=["loc", "scale"], distribution_class=TanhNormal)
    compiled = torch.compile(actor)
    for size in (4, 4, 6):
        compiled(TensorDict({"observation": torch.randn(size, 4)}, batch_size=[size]))
