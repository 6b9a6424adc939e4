"""Asks rust-analyzer what an editor shows for a small program, and compares the answers.

    python3 scripts/editor.py [--std FOLDER]

Needs rust-analyzer (`rustup component add rust-analyzer`). FOLDER is the `library` folder of std's
sources, if the toolchain lacks it (`rustup component add rust-src`). docs/editor.md describes what an
editor shows.
"""

import argparse
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# `//: T` is the type that the editor shows after the variable of its line.
PROGRAM = """\
use nomina::prelude::*;

dims! {
    /// Examples of a batch.
    N,
    C, H, W,
    Rgb = 3,
    Batch = "batch",
    Features,
}

fn per_row<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<Without<D, C>> {
    x.mean(C)
}

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]); //: Tensor<(N, C)>
    let images = Tensor::zeros((N.of(2), Rgb, H.of(4), W.of(5))); //: Tensor<(N, Rgb, H, W)>
    let bias = tensor!([1., 2., 3.]; C); //: Tensor<(C,)>
    let sum = x.sum(C); //: Tensor<(N,)>
    let total = x.sum(..); //: Tensor<()>
    let kept = x.mean(keep(C)); //: Tensor<(N, C)>
    let shifted = &x + &bias; //: Tensor<(N, C)>
    let promoted = &x + x.to::<f64>(); //: Tensor<(N, C), f64>
    let less = x.lt(&shifted); //: Tensor<(N, C), bool>
    let turned = x.transpose(N, C); //: Tensor<(C, N)>
    let ordered = images.align_to((W, ..)); //: Tensor<(W, N, Rgb, H)>
    let renamed = x.rename(N, Batch); //: Tensor<(Batch, C)>
    let flat = images.flatten((Rgb, H, W), Features); //: Tensor<(N, Features)>
    let back = flat.unflatten(Features, (Rgb, H.of(4), W.of(5))); //: Tensor<(N, Rgb, H, W)>
    let product = x.matmul(&turned); //: Tensor<(N, N)>
    let contracted = x.contract(&bias, C); //: Tensor<(N,)>
    let summed = einsum!(x[N, C] * bias[C] -> [N]); //: Tensor<(N,)>
    let stacked = stack(&[&x, &x], H); //: Tensor<(H, N, C)>
    let part = images.select(N, 0).narrow(W, 1..3); //: Tensor<(Rgb, H, W)>
    let pair = x.std_mean(C); //: (Tensor<(N,)>, Tensor<(N,)>)
    let unknown = x.drop_names(); //: Tensor<(Wild, Wild)>
    let refined = unknown.refine_names((N, C)); //: Tensor<(N, C)>
    let pooled = per_row(&x); //: Tensor<(N,)>
    let list = names!["N", _]; //: Names
    let ragged = tensor!([[1., 2.], [3.]]; N, C); //: Tensor<(N, C)>
    let behind = ragged.sum(C); //: Tensor<(N,)>
    let twice = einsum!(x[N, N, C] -> [N]); //: Tensor<(N,)>
    let begun = tensor!([[1., ]]; N, C); //: Tensor<(N, C)>
    let missing = x.sum(H); //: Tensor<(N, C)>
    let fine = x.sum(C); //: Tensor<(N,)>
    x.;
}
"""

# The position of a hover, the texts its answer must contain, and one it must not contain.
HOVERS = [
    ("    N,", 4, ["struct N", "Examples of a batch.", "Dim `N`."], "extern crate"),
    ("Rgb = 3", 0, ["struct Rgb", "Dim `Rgb`, of size 3."], "impl"),
    ("Batch =", 0, ["Dim `Batch`, spelled `batch` at run time."], "impl"),
    ("x.sum(C); //: Tensor<(N,)>", 6, ["struct C", "Dim `C`."], "impl"),
    ("x.sum(C); //: Tensor<(N,)>", 2, ["fn sum", "`A` = `C`", "Computes the sum over dims"], "Remaining"),
    ("einsum!(x[N, C] * bias", 10, ["struct N", "Dim `N`."], "extern crate"),
]


class Client:
    """A client of a language server on standard input and output."""

    def __init__(self, folder, options):
        self.answers, self.diagnostics, self.quiet, self.number = {}, {}, False, 0
        self.options = options
        self.server = subprocess.Popen(
            ["rust-analyzer"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        threading.Thread(target=self.read, daemon=True).start()
        capabilities = {
            "experimental": {"serverStatusNotification": True},
            "textDocument": {
                "hover": {"contentFormat": ["markdown"]},
                "completion": {
                    "completionItem": {"resolveSupport": {"properties": ["documentation"]}}
                },
                "definition": {"linkSupport": True},
            },
        }
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri(),
                "initializationOptions": options,
                "capabilities": capabilities,
            },
        )
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        while True:
            self.number += 1
            answer = self.answers[self.number] = queue.Queue()
            self.send({"id": self.number, "method": method, "params": params})
            message = answer.get(timeout=600)
            error = message.get("error")
            if error is None:
                return message.get("result")
            if error["code"] not in (-32801, -32802):  # The text or the crates have changed.
                raise RuntimeError(error)
            time.sleep(1)

    def read(self):
        out = self.server.stdout
        while line := out.readline():
            if not line.lower().startswith(b"content-length"):
                continue
            out.readline()
            message = json.loads(out.read(int(line.split(b":")[1])))
            if "method" not in message:
                self.answers.pop(message["id"]).put(message)
            elif "id" in message:
                wanted = message["method"] == "workspace/configuration"
                result = [self.options] * len(message["params"]["items"]) if wanted else None
                self.send({"id": message["id"], "result": result})
            elif message["method"] == "textDocument/publishDiagnostics":
                self.diagnostics = message["params"]["diagnostics"]
            elif message["method"] == "experimental/serverStatus":
                self.quiet = message["params"]["quiescent"]

    def wait(self):
        end = time.time() + 900
        while not self.quiet:
            if time.time() > end:
                sys.exit("rust-analyzer does not come to rest")
            time.sleep(0.5)


def project(folder):
    (folder / "src").mkdir()
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "asked"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n'
        f'[dependencies]\nnomina = {{ path = "{ROOT}" }}\n'
    )
    for name in ("Cargo.lock", "rust-toolchain.toml"):
        (folder / name).write_text((ROOT / name).read_text())
    file = folder / "src" / "main.rs"
    file.write_text(PROGRAM)
    return file


def questions(client, file):
    """Asks every question; yields the question, the expected answer and the actual one."""
    document = {"uri": file.as_uri()}
    lines = PROGRAM.split("\n")

    def place(text, offset=0):
        line = next(i for i, line in enumerate(lines) if text in line)
        position = {"line": line, "character": lines[line].index(text) + offset}
        return {"textDocument": document, "position": position}

    whole = {
        "start": {"line": 0, "character": 0},
        "end": {"line": len(lines) - 1, "character": 0},
    }
    shown = {}
    for hint in client.ask("textDocument/inlayHint", {"textDocument": document, "range": whole}):
        label = hint["label"]
        if not isinstance(label, str):
            label = "".join(part["value"] for part in label)
        if label.startswith(": "):
            shown[hint["position"]["line"]] = label[2:]
    for number, line in enumerate(lines):
        if " //: " in line:
            code, wanted = line.split(" //: ")
            yield code.strip(), wanted, wanted == shown.get(number), shown.get(number)
    for text, offset, wanted, unwanted in HOVERS:
        answer = client.ask("textDocument/hover", place(text, offset))
        said = answer["contents"]["value"] if answer else ""
        right = all(part in said for part in wanted) and unwanted not in said
        yield f"hover at {offset} of `{text}`", f"{wanted}, not {unwanted!r}", right, said
    found = client.ask("textDocument/definition", place("x.sum(C); //: Tensor<(N,)>", 6))
    line = found[0]["targetSelectionRange"]["start"]["line"] if found else None
    yield "declaration of `C`", "    C, H, W,", line == lines.index("    C, H, W,"), line
    answer = client.ask("textDocument/completion", place("    x.;", 6))
    items = {item["label"]: item for item in answer["items"]}
    order = sorted(answer["items"], key=lambda item: (item.get("sortText", ""), item["label"]))
    labels = [item["label"].split("(")[0] for item in order]
    forms = ("_out", "_with", "_")
    derived = [label for label in labels if label.startswith("try_") or label.endswith(forms)]
    print(f"completions: {len(labels)}, {len(derived)} of them forms of another; first: {labels[:8]}")
    print(f"    with `sum` in the name: {[label for label in labels if 'sum' in label][:12]}")
    for name in ("sum", "softmax", "align_as", "flatten", "add_", "try_sum", "var_with"):
        resolved = client.ask("completionItem/resolve", items[name]) if name in items else {}
        said = (resolved.get("documentation") or {}).get("value", "")
        yield f"completion `{name}`", "with documentation", len(said) > 20, said[:60]
    end = time.time() + 30
    while time.time() < end and len(client.diagnostics) < 4:
        time.sleep(0.5)
    told = {item["message"] for item in client.diagnostics if item.get("code") == "macro-error"}
    wanted = {
        "this row has 1 value, the other rows have 2",
        "dim `N` is repeated in this list; to use it twice, write `Prime<N>`",
        # `[[1., ]]` is one row of one value, which is correct.
    }
    yield "mistakes in macros", wanted, told == wanted, told


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--std", help="folder `library` of std's sources")
    given = parser.parse_args()
    options = {"checkOnSave": False, "cachePriming": {"enable": False}}
    if given.std:
        options["cargo"] = {"sysrootSrc": given.std}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        file = project(folder)
        client = Client(folder, options)
        text = {"uri": file.as_uri(), "languageId": "rust", "version": 1, "text": PROGRAM}
        client.tell("textDocument/didOpen", {"textDocument": text})
        client.wait()
        for asked, wanted, right, shown in questions(client, file):
            wrong += not right
            print(f"{'ok ' if right else 'BAD'} {asked}")
            if not right:
                print(f"    wanted {wanted}\n    shown  {shown}")
        client.ask("shutdown", None)
        client.tell("exit", None)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
