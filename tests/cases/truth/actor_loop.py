"""A policy in a loop with an environment in Python, and REINFORCE after each episode."""

import torch


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))

    def forward(self, state):
        distribution = torch.distributions.Categorical(logits=self.net(state))
        action = distribution.sample()
        return action, distribution.log_prob(action)


def returns(rewards, decay):
    total, result = 0.0, []
    for reward in reversed(rewards):
        total = reward + decay * total
        result.append(total)
    return result[::-1]


@torch.compile
def loss_of(log_probs, gains):
    gains = (gains - gains.mean()) / (gains.std() + 1e-5)
    return -(torch.stack(log_probs) * gains).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    policy = Policy()
    act = torch.compile(policy)
    optimizer = torch.optim.Adam(policy.parameters())
    for length in (3, 4, 5):
        state, kept = torch.randn(4), []
        for _ in range(length):
            action, log_prob = act(state)
            kept.append(log_prob)
            state = state + 0.1 * (action.item() - 0.5)
        loss_of(kept, torch.tensor(returns([1.0] * length, 0.9))).backward()
        optimizer.step()
        optimizer.zero_grad()
