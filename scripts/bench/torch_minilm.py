#!/usr/bin/env python3
"""Times all-MiniLM-L6-v2 on PyTorch, like `--example minilm -- FOLDER --bench`: torch_minilm.py FOLDER [--onnx]

The layers are those of the package transformers with scaled dot product attention; `--onnx` runs the same model on
ONNX Runtime instead, which needs the packages onnx and onnxruntime. Uses two threads."""

import json
import pathlib
import statistics
import struct
import sys
import tempfile
import time

import numpy
import torch
import torch.nn.functional as F



def weights(folder):
    data = (folder / "model.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    found = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = about["data_offsets"]
            flat = numpy.frombuffer(data[8 + size + start : 8 + size + end], dtype="<f4")
            found[name] = torch.from_numpy(flat.reshape(about["shape"]).copy())
    return found


class Encoder(torch.nn.Module):
    def __init__(self, weights, heads=12, layers=6):
        super().__init__()
        self.heads, self.layers = heads, layers
        self.width = len(weights["embeddings.LayerNorm.bias"])
        self.w = {name.replace(".", "_"): tensor for name, tensor in weights.items()}
        for name, tensor in self.w.items():
            self.register_buffer(name, tensor)

    def linear(self, x, name):
        return F.linear(x, getattr(self, name + "_weight"), getattr(self, name + "_bias"))

    def norm(self, x, name):
        return F.layer_norm(x, (self.width,), getattr(self, name + "_weight"), getattr(self, name + "_bias"), 1e-12)

    def forward(self, ids, mask):
        n, seq = ids.shape
        e = "embeddings_"
        x = F.embedding(ids, getattr(self, e + "word_embeddings_weight"))
        x = x + getattr(self, e + "position_embeddings_weight")[:seq] + getattr(self, e + "token_type_embeddings_weight")[0]
        x = self.norm(x, e + "LayerNorm")
        seen = mask[:, None, None, :].bool()
        for at in range(self.layers):
            own = f"encoder_layer_{at}_"
            heads = [
                self.linear(x, own + f"attention_self_{part}").view(n, seq, self.heads, -1).transpose(1, 2)
                for part in ("query", "key", "value")
            ]
            found = F.scaled_dot_product_attention(*heads, attn_mask=seen)
            found = found.transpose(1, 2).reshape(n, seq, -1)
            x = self.norm(self.linear(found, own + "attention_output_dense") + x, own + "attention_output_LayerNorm")
            inner = F.gelu(self.linear(x, own + "intermediate_dense"))
            x = self.norm(self.linear(inner, own + "output_dense") + x, own + "output_LayerNorm")
        counts = mask[:, :, None].float()
        mean = (x * counts).sum(1) / counts.sum(1)
        return F.normalize(mean, dim=1)


def median(call):
    call()
    times, start = [], time.perf_counter()
    while len(times) < 5 or (time.perf_counter() - start < 3 and len(times) < 400):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    return statistics.median(times) * 1e3


def main():
    args = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    if len(args) != 1:
        sys.exit(__doc__)
    torch.set_num_threads(2)
    model = Encoder(weights(pathlib.Path(args[0]))).eval()
    session = None
    if "--onnx" in sys.argv:
        import onnxruntime

        example = (torch.ones(2, 8, dtype=torch.int64), torch.ones(2, 8, dtype=torch.int64))
        axes = {"ids": {0: "n", 1: "seq"}, "mask": {0: "n", 1: "seq"}}
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 2
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.onnx"
            torch.onnx.export(model, example, path, input_names=["ids", "mask"], dynamic_axes=axes, dynamo=False, opset_version=17)
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for n, seq in ((16, 122), (1, 9)):
        ids = torch.tensor([[1000 + 37 * s + 101 * i for s in range(seq)] for i in range(n)])
        mask = torch.ones(n, seq, dtype=torch.int64)
        if session:
            given = {"ids": ids.numpy(), "mask": mask.numpy()}
            took = median(lambda: session.run(None, given))
        else:
            with torch.inference_mode():
                took = median(lambda: model(ids, mask))
        print(f"{n}x{seq} tokens: {took:.3f} ms")


if __name__ == "__main__":
    main()
