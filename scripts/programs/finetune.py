"""The PyTorch side of examples/nn/finetune.rs: a transformer with pretrained weights learns another task."""

import math
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.tok = nn.Embedding(24, 16)
        self.pos = nn.Parameter(torch.randn(16, 16) * 0.02)
        layer = nn.TransformerEncoderLayer(
            16, 4, 32, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, classes)

    def forward(self, ids):
        """Classifies sequences of token ids, which end where they are 0."""
        seen = ids != 0
        x = self.tok(ids) + self.pos
        x = self.norm(self.encoder(x, src_key_padding_mask=~seen))
        seen = seen.float().unsqueeze(-1)
        return self.head((x * seen).sum(1) / seen.sum(1))


def load(state, classes):
    """Loads all weights but the head's, which is new."""
    net = Net(classes)
    state = {path: x for path, x in state.items() if path.split(".")[0] != "head"}
    net.load_state_dict(state, strict=False)
    nn.init.zeros_(net.head.weight)
    nn.init.zeros_(net.head.bias)
    return net


def groups(net, lr):
    """No weight decay of biases and norms; the head learns ten times as fast."""
    named = list(net.named_parameters())
    decay = [p for path, p in named if p.dim() > 1 and path.split(".")[0] != "head"]
    plain = [p for path, p in named if p.dim() < 2 and path.split(".")[0] != "head"]
    return [
        {"params": decay, "lr": lr},
        {"params": plain, "lr": lr, "weight_decay": 0.0},
        {"params": [net.head.weight], "lr": 10 * lr},
        {"params": [net.head.bias], "lr": 10 * lr, "weight_decay": 0.0},
    ]


def train(net, ids, labels, steps):
    """Takes steps with batches of 64 in order, and returns losses and norms of gradients."""
    optimizer = torch.optim.AdamW(groups(net, 4e-3), weight_decay=0.1)
    cosine = lambda step: 0.5 * (1 + math.cos(math.pi * step / steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, cosine)
    found = []
    for step in range(steps):
        start = step * 64 % len(ids)
        x, y = ids[start : start + 64], labels[start : start + 64]
        loss = F.cross_entropy(net(x), y, label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        found.append((loss.item(), norm.item()))
    return found


def main():
    folder = sys.argv[1]
    data = load_file(f"{folder}/data.safetensors")
    net = load(load_file(f"{folder}/pretrained.safetensors"), 4)
    ids, held_out = data["ids"].long().split(1024)
    labels, wanted = data["labels"].long().split(1024)
    for step, (loss, norm) in enumerate(train(net, ids, labels, 160)):
        if step % 20 == 0:
            print(f"step {step:3}: loss {loss:.4f}, gradient {norm:.3f}")
    with torch.no_grad():
        right = (net(held_out).argmax(1) == wanted).float().mean()
    print(f"{100 * right:.1f} % of the other sequences are classified correctly")


if __name__ == "__main__":
    main()
