"""Writes the data of the programs beside this file, and what PyTorch and xarray compute from it.

    python scripts/programs/data.py torch     # needs torch and safetensors
    python scripts/programs/data.py xarray    # needs xarray, pandas and zarr

The files are those of the repository; run it from its root. PyTorch's numbers depend on its version in the last digits.
"""

import json
import sys

import numpy as np

ROOT = "examples"


def write_json(path, value):
    with open(path, "w") as file:
        json.dump(value, file)
        file.write("\n")


def convnet():
    import torch
    from safetensors.torch import save_file

    import convnet as side

    folder = f"{ROOT}/nn/convnet"
    torch.manual_seed(1)
    digits = np.loadtxt(f"{ROOT}/data/digits.csv", delimiter=",", dtype=np.float32)
    images = torch.tensor(digits[:, :64] / 16).reshape(-1, 1, 8, 8)
    labels = torch.tensor(digits[:, 64]).long()
    (images, other_images), (labels, other_labels) = images.split(1437), labels.split(1437)
    net = side.ConvNet()
    net.train()
    for batch in images.split(64)[:5]:
        net(batch)  # fills running statistics
    save_file(net.state_dict(), f"{folder}/net.safetensors", {"format": "pt"})
    net.eval()
    with torch.no_grad():
        found = {"torch": torch.__version__, "logits": net(images[:4]).flatten().tolist()}
    for name, dtype in [("f32", None), ("bf16", torch.bfloat16), ("f16", torch.float16)]:
        net = side.load(f"{folder}/net.safetensors")
        losses = side.train(net, images, labels, 60, dtype)
        found[name] = {
            "losses": losses,
            "accuracy": side.accuracy(net, other_images, other_labels),
            "running_var": net.norm1.running_var.tolist(),
        }
        print(name, losses[0], losses[-1], found[name]["accuracy"])
    write_json(f"{folder}/torch.json", found)


def sequences(rng, count, label):
    """Sequences of 6 to 16 tokens, then zeros, and the label of each."""
    ids, labels = np.zeros((count, 16), np.uint8), np.zeros(count, np.uint8)
    for row in range(count):
        length = rng.integers(6, 17)
        tokens = rng.integers(5, 24, length)
        places = rng.permutation(length)
        labels[row] = label(rng, tokens, places)
        ids[row, :length] = tokens
    return ids, labels


def most_frequent(rng, tokens, places):
    found = rng.integers(0, 3)
    tokens[places[:3]] = 1 + found
    tokens[places[3:5]] = 1 + rng.integers(0, 3, len(places[3:5]))
    return found


def first(rng, tokens, places):
    order = rng.permutation(4)
    tokens[np.sort(places[:4])] = 1 + order
    return order[0]


def finetune():
    import torch
    import torch.nn.functional as F
    from safetensors.torch import save_file

    import finetune as side

    folder = f"{ROOT}/nn/finetune"
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    ids, labels = (torch.tensor(x).long() for x in sequences(rng, 2048, most_frequent))
    net = side.Net(3)
    for path, param in net.named_parameters():
        if param.dim() > 1 and "encoder" in path:
            torch.nn.init.xavier_uniform_(param)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for step in range(200):
        start = step * 64 % len(ids)
        loss = F.cross_entropy(net(ids[start : start + 64]), labels[start : start + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("pretrained", loss.item())
    state = {path: x.contiguous() for path, x in net.state_dict().items()}
    save_file(state, f"{folder}/pretrained.safetensors", {"format": "pt"})
    # No class is a quarter of the first batch: Adam would step by the sign of a rounding error.
    rng = np.random.default_rng(4)
    ids, labels = (torch.tensor(x) for x in sequences(rng, 1280, first))
    assert 16 not in labels[:64].bincount()
    save_file({"ids": ids, "labels": labels}, f"{folder}/data.safetensors")
    net = side.load(state, 4)
    steps = side.train(net, ids.long()[:1024], labels.long()[:1024], 160)
    with torch.no_grad():
        right = (net(ids.long()[1024:]).argmax(1) == labels.long()[1024:]).float().mean().item()
    print("fine-tuned", steps[0], steps[-1], right)
    write_json(
        f"{folder}/torch.json",
        {
            "torch": torch.__version__,
            "losses": [loss for loss, _ in steps],
            "norms": [norm for _, norm in steps],
            "accuracy": right,
        },
    )


def filled(module, scale):
    """Fills the parameters by a formula, which the Rust side computes too."""
    import torch

    with torch.no_grad():
        for i, param in enumerate(module.parameters()):
            at = torch.arange(param.numel(), dtype=torch.float64)
            param.copy_(((at * 0.7 + i).sin() * scale).float().reshape(param.shape))
    return module


def vae():
    import torch

    import vae as side

    net = filled(side.Vae(8), 0.1)
    noise = (torch.arange(800, dtype=torch.float64) * 0.3).cos().float().reshape(100, 8)
    loss = net.loss(side.read()[:100], noise)
    loss.backward()
    found = [loss.item()] + [param.grad.double().norm().item() for param in net.parameters()]
    print("vae", found)
    write_json(f"{ROOT}/nn/vae/torch.json", {"torch": torch.__version__, "loss_and_norms": found})


def poisson():
    import torch

    import poisson as side

    losses = side.train(filled(side.Solution(16), 0.3), 32, 100)
    print("poisson", losses[0], losses[-1])
    write_json(f"{ROOT}/nn/poisson/torch.json", {"torch": torch.__version__, "losses": losses})


def reanalysis():
    import pandas as pd
    import xarray as xr

    import reanalysis as side

    folder = f"{ROOT}/reanalysis"
    rng = np.random.default_rng(0)
    time = pd.date_range("2003-01-01", "2004-12-31", freq="D")  # the second is a leap year
    lat, lon = np.arange(-75, 76, 30.0), np.arange(0, 360, 60.0)
    season = 12 * np.cos((time.day_of_year.values - 200) / 365.25 * 2 * np.pi)
    drift = np.cumsum(rng.normal(size=len(time))) * 0.1
    x = 288 - 30 * np.sin(np.deg2rad(lat))[None, :, None] ** 2
    x = x + season[:, None, None] * np.sign(lat)[None, :, None]
    x = x + drift[:, None, None] * np.cos(np.deg2rad(lon - 150))[None, None, :]
    x = (x + rng.normal(size=(len(time), len(lat), len(lon)))).round(1).astype("f4")
    x[:, 0, :2] = np.nan  # never measured
    x[40:110, 3, 4] = np.nan  # a gap longer than a window
    t2m = xr.DataArray(
        x, dict(time=time, lat=lat, lon=lon), ("time", "lat", "lon"), "t2m", dict(units="K")
    )
    t2m.to_dataset().to_zarr(f"{folder}/t2m.zarr", mode="w")
    t2m = xr.open_zarr(f"{folder}/t2m.zarr", chunks=None).t2m.load()
    found = side.analyse(t2m)
    values = {name: (list(x.shape), x.values.astype("f8").ravel()) for name, x in found.items()}
    write_json(
        f"{folder}/xarray.json",
        {
            "xarray": xr.__version__,
            "values": {
                name: {"shape": shape, "data": [None if np.isnan(v) else float(f"{v:.7g}") for v in data]}
                for name, (shape, data) in values.items()
            },
        },
    )


if __name__ == "__main__":
    for kind in sys.argv[1:]:
        for program in {"torch": [convnet, finetune, vae, poisson], "xarray": [reanalysis]}[kind]:
            program()
