"""The PyTorch side of examples/nn/convnet.rs: a conv net from safetensors, trained in mixed precision."""

import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1, groups=2, bias=False)
        self.norm2 = nn.GroupNorm(4, 32)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        x = self.conv2(F.max_pool2d(x, 2))
        x = F.silu(self.norm2(x))
        return self.out(self.pool(x).flatten(1))


def load(path):
    net = ConvNet()
    net.load_state_dict(load_file(path))
    return net


def train(net, images, labels, steps, dtype=None):
    """Takes steps with batches of 64 in order, and returns their losses."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu")
    losses = []
    net.train()
    for step in range(steps):
        start = step * 64 % (len(images) - 64)
        x, y = images[start : start + 64], labels[start : start + 64]
        with torch.autocast("cpu", dtype, enabled=dtype is not None):
            loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


def accuracy(net, images, labels):
    net.eval()
    with torch.no_grad():
        return (net(images).argmax(1) == labels).float().mean().item()


def main():
    folder = sys.argv[1]
    digits = np.loadtxt("examples/data/digits.csv", delimiter=",", dtype=np.float32)
    images = torch.tensor(digits[:, :64] / 16).reshape(-1, 1, 8, 8)
    labels = torch.tensor(digits[:, 64]).long()
    (train_images, images), (train_labels, labels) = images.split(1437), labels.split(1437)
    for dtype in [None, torch.bfloat16, torch.float16]:
        net = load(f"{folder}/net.safetensors")
        losses = train(net, train_images, train_labels, 60, dtype)
        print(dtype, losses[0], losses[-1], accuracy(net, images, labels))


if __name__ == "__main__":
    main()
