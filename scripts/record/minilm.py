#!/usr/bin/env python3
"""Records a tiny sentence encoder and its embeddings by PyTorch, for examples/minilm/tests: record/minilm.py

Writes examples/minilm/data/tiny.safetensors, whose tensors have the names of those in all-MiniLM-L6-v2, and tiny.json."""

import json
import pathlib
import struct
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "bench"))
from torch_minilm import Encoder  # noqa: E402

WORDS, POSITIONS, HIDDEN, HEADS, INNER, LAYERS = 40, 12, 16, 4, 24, 2


def shapes():
    yield "embeddings.word_embeddings.weight", [WORDS, HIDDEN]
    yield "embeddings.position_embeddings.weight", [POSITIONS, HIDDEN]
    yield "embeddings.token_type_embeddings.weight", [2, HIDDEN]
    norms = ["embeddings.LayerNorm"]
    linear = {}
    for at in range(LAYERS):
        own = f"encoder.layer.{at}."
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear[own + "attention." + part] = [HIDDEN, HIDDEN]
        linear[own + "intermediate.dense"] = [INNER, HIDDEN]
        linear[own + "output.dense"] = [HIDDEN, INNER]
        norms += [own + "attention.output.LayerNorm", own + "output.LayerNorm"]
    for name, shape in linear.items():
        yield name + ".weight", shape
        yield name + ".bias", shape[:1]
    for name in norms:
        yield name + ".weight", [HIDDEN]
        yield name + ".bias", [HIDDEN]


def save(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        raw = tensor.numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(0)
    tensors = {name: torch.randn(shape) * 0.5 for name, shape in shapes()}
    folder = ROOT / "examples" / "minilm" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / "tiny.safetensors", tensors)
    ids = torch.randint(0, WORDS, (3, 7))
    mask = torch.ones(3, 7, dtype=torch.int64)
    mask[1, 5:] = 0
    mask[2, 1:] = 0
    with torch.inference_mode():
        embeddings = Encoder(tensors, HEADS, LAYERS)(ids, mask)
    recorded = {"ids": ids.tolist(), "mask": mask.tolist(), "embeddings": [[float(f"{x:.7g}") for x in row] for row in embeddings.tolist()]}
    (folder / "tiny.json").write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
