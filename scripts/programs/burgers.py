"""The PyTorch side of examples/burgers.rs: Burgers' equation by Fourier transforms."""

import math

import torch
from torch.fft import irfft, rfft


def grid(points):
    """Returns the grid points from 0 to 2 pi."""
    return torch.arange(points, dtype=torch.float64) * (2 * math.pi / points)


def frequencies(points):
    return torch.arange(points // 2 + 1, dtype=torch.float64)


def derivative(spectrum, points):
    """Returns the derivative of a function by its spectrum."""
    return irfft(spectrum * 1j * frequencies(points), points)


def step(u, viscosity, time):
    """Advances by one step of the fourth-order Runge-Kutta method, with exact diffusion."""
    points = len(u)
    k = frequencies(points)
    kept = (k <= points / 3).double()
    half = (k.square() * (-viscosity * time / 2)).exp()

    def slope(spectrum):
        product = irfft(spectrum, points) * derivative(spectrum, points)
        return rfft(product) * kept * -time

    start = rfft(u)
    middle = start * half
    a = slope(start)
    b = slope((start + a * 0.5) * half)
    c = slope(middle + b * 0.5)
    d = slope((middle + c) * half)
    end = (middle + a * half / 6) * half + (b + c) * half / 3 + d / 6
    return irfft(end, points)


def exact(points, viscosity, time):
    """Returns the exact solution that begins as sin x, by the transformation of Cole and Hopf."""
    start = ((grid(points).cos() - 1) / (2 * viscosity)).exp()
    spectrum = rfft(start) * (frequencies(points).square() * (-viscosity * time)).exp()
    return derivative(spectrum, points) / irfft(spectrum, points) * (-2 * viscosity)


def main():
    points, viscosity, time, steps = 256, 0.05, 1.5, 600
    u = grid(points).sin()
    for _ in range(steps):
        u = step(u, viscosity, time / steps)
    error = (u - exact(points, viscosity, time)).abs().max().item()
    slope = derivative(rfft(u), points).min().item()
    print(f"at {time}: the steepest slope is {slope:.3f}, and no point is off by more than {error:.1e}")


if __name__ == "__main__":
    main()
