"""The PyTorch side of examples/nn/vae.rs: a variational autoencoder of handwritten digits."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Vae(nn.Module):
    def __init__(self, code):
        super().__init__()
        self.encoder = nn.Linear(64, 128)
        self.mean = nn.Linear(128, code)
        self.log_variance = nn.Linear(128, code)
        self.decoder = nn.Linear(code, 128)
        self.pixels = nn.Linear(128, 64)

    def encode(self, x):
        hidden = self.encoder(x.flatten(1)).relu()
        return self.mean(hidden), self.log_variance(hidden)

    def decode(self, code):
        """Returns the logits of the pixels."""
        return self.pixels(self.decoder(code).relu()).unflatten(1, (8, 8))

    def loss(self, x, noise):
        """Returns the mean over pictures of the reconstruction error plus the divergence of the codes, in nats."""
        mean, log_variance = self.encode(x)
        code = mean + (log_variance * 0.5).exp() * noise
        logits = self.decode(code)
        error = F.binary_cross_entropy_with_logits(logits, x, reduction="none")
        divergence = (mean.square() + log_variance.exp() - log_variance - 1) * 0.5
        return (error.sum((1, 2)) + divergence.sum(1)).mean()


def train(vae, images, epochs):
    """Trains for some epochs and returns the loss of each, averaged over its batches."""
    adam = torch.optim.Adam(vae.parameters(), lr=2e-3)
    means = []
    for _ in range(epochs):
        losses = []
        for rows in torch.randperm(len(images)).split(64):
            x = images[rows]
            loss = vae.loss(x, torch.randn(len(x), vae.mean.out_features))
            adam.zero_grad()
            loss.backward()
            adam.step()
            losses.append(loss.item())
        means.append(sum(losses) / len(losses))
    return means


def read():
    digits = np.loadtxt("examples/data/digits.csv", delimiter=",", dtype=np.float32)
    return torch.tensor(digits[:, :64] / 16).reshape(-1, 8, 8)


def main():
    torch.manual_seed(7)
    images = read()[torch.randperm(1797)]
    images, held_out = images[:1437], images[1437:]
    vae = Vae(8)
    for epoch, loss in enumerate(train(vae, images, 40)):
        print(f"epoch {epoch:2}: {loss:.2f} nats a picture")
    with torch.no_grad():
        bound = vae.loss(held_out, torch.randn(len(held_out), 8)).item()
        drawn = vae.decode(torch.randn(1, 8)).sigmoid()
    print(f"held out: {bound:.2f} nats a picture")
    print("a new digit:")
    for row in drawn[0]:
        print("".join(" .:o#"[round(dark * 4)] for dark in row.tolist()))


if __name__ == "__main__":
    main()
