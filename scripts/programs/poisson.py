"""The PyTorch side of examples/nn/poisson.rs: a physics-informed network solves Poisson's equation."""

import math

import torch
from torch import nn
from torch.autograd import grad


class Solution(nn.Module):
    """A network that is multiplied by x (1 - x), which makes both ends zero."""

    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Linear(1, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, 1)

    def value(self, x):
        hidden = self.second(self.first(x).tanh()).tanh()
        x = x.squeeze(1)
        return self.last(hidden).squeeze(1) * (x * (1 - x))

    def curvature(self, x):
        """Returns the second derivative at each point."""
        x = x.detach().requires_grad_()
        (slope,) = grad(self.value(x).sum(), x, create_graph=True)
        (curvature,) = grad(slope.sum(), x, create_graph=True)
        return curvature.squeeze(1)


def force(x):
    """Returns f of the solution sin(pi x) + sin(2 pi x) / 2."""
    return (x * math.pi).sin() * math.pi**2 + (x * (2 * math.pi)).sin() * (2 * math.pi**2)


def exact(x):
    return (x * math.pi).sin() + (x * (2 * math.pi)).sin() * 0.5


def column(points):
    """Returns points from 0 to 1."""
    return torch.linspace(0, 1, points).unsqueeze(1)


def train(solution, points, steps):
    """Trains on a grid of points, and returns the mean squared residual before each step."""
    x = column(points)
    f = force(x.squeeze(1))
    adam = torch.optim.Adam(solution.parameters(), lr=5e-3)
    cosine = lambda step: 0.5 * (1 + math.cos(math.pi * step / steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(adam, cosine)
    losses = []
    for _ in range(steps):
        loss = (solution.curvature(x) + f).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def main():
    torch.manual_seed(3)
    solution = Solution(24)
    losses = train(solution, 64, 1500)
    print(f"residual: {losses[0]:.2e} at first, {losses[-1]:.2e} at last")
    x = column(101)
    with torch.no_grad():
        error = (solution.value(x) - exact(x.squeeze(1))).abs().max().item()
    print(f"no point is off by more than {error:.1e}")


if __name__ == "__main__":
    main()
