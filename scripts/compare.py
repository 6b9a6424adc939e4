"""Compares the speed of nomina with PyTorch and with other Rust libraries, case by case, in one run.

usage: python scripts/compare.py [--bench ops|grads|labels] [--rounds 3] [--threads 2[,...]] [--only SUBSTRING,...] [--peers ndarray,candle,burn]
                                 [--device cuda] [--simd avx2] [--busy] [--ours PROGRAM] [--update docs/performance.md]
       python scripts/compare.py --svg docs/speed.svg [--check]
needs: pip install torch==2.11.0 numpy

It builds the benchmarks, starts every side once and then asks all of them for the same case, one after another, in
several rounds, so that other load on the machine affects all sides equally. A ratio is another side's time divided by nomina's in the
same round; the median over the rounds is printed. `--peers ''` measures PyTorch only. `--update` writes the table between
the lines `<!-- figures -->` and `<!-- /figures -->` of a file, or those of `gradients`. `--device cuda` measures on a GPU, against PyTorch
on the GPU, and chains against torch.compile. `--bench grads` measures gradients, against PyTorch and burn; first
it checks that all sides compute the same results for cases with the same initial numbers. `--ours` names a benchmark that is
already built. `--bench labels` measures operators along labels and scans of files against xarray with NumPy and dask
(pip install xarray dask zarr scipy). `--simd avx2` restricts both sides to AVX2, and measures no peers, which cannot be restricted;
`--update` wants marker lines of its own for it. `--busy` measures beside a process that keeps one core busy; its table has
marker lines of its own, too.

`--threads 1,2,4,8,16` measures each case with each of these numbers of threads, without peers: a column has nomina's time and the ratio.
Without `--only`, 20 cases of `ops`, and the training steps of `grads`, are measured.

`--svg` measures nothing and needs no PyTorch: it draws the tables of docs/performance.md, and prints the picture's figures, which the README
has as its alternative text. `--check` writes nothing, and fails if the picture or the README is out of date.
"""

import argparse
import atexit
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

import speed_svg

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEERS = "benches/peers/Cargo.toml"
# The names of the marker lines around the table of a benchmark.
PLACES = {"ops": "figures", "grads": "gradients", "labels": "labels"}
# The environment variables that limit both sides to an instruction set.
HELD = {
    "avx2": {"NOMINA_SIMD": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"},
}
# The peers with cases of a benchmark, on the host.
PEERS_OF = {"ops": "ndarray,candle,burn", "grads": "burn", "labels": ""}
# The library that a benchmark is compared with, and the program that measures it.
OTHERS = {"ops": ("PyTorch", "torch_ops.py"), "grads": ("PyTorch", "torch_grads.py"), "labels": ("xarray", "xarray_labels.py")}
# The maximum difference of computed results, relative to the largest number.
TOLERANCES = {"grads": 1e-9, "labels": 1e-5}

# The cases that `--threads` with several numbers measures: operators of each family at sizes that keep several threads busy, and steps.
SCALED = {
    "ops": (
        "add/10M,chain/10M,add_transposed/10M,randn/10M,sum_all/10M,sum_first/10M,var_last/10M,softmax_last/10M,cumsum_last/10M,"
        "cumsum_first/10M,median_last/1M,transpose_copy/10M,matmul_f32/1024,matmul_f32/2048,linear_gelu/2048,conv2d/8x128x28x28,"
        "attention_full/16x12x122x32"
    ),
    "grads": "mlp_train_step,encoder_block,conv_step,adamw",
}


def built(*command):
    """Builds with cargo, and returns the path of the executable."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("CARGO_PROFILE_")}
    command = ["cargo", *command, "--message-format=json"]
    out = subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    made = [line["executable"] for line in lines if line.get("executable")]
    if not made:
        raise SystemExit(f"{' '.join(command)}: nothing was built")
    return made[-1]


def names(*command):
    return subprocess.run([*command, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def values(command, only):
    """Returns the results of a side by case: a number first, then all its gradients."""
    out = subprocess.run([*command, "--values", "--only", only], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line["case"]: line["values"] for line in map(json.loads, out.splitlines())}


def apart(ours, theirs):
    """Returns the relative difference of two sides' results: of the value, and of the gradients relative to the largest one."""
    if len(ours) != len(theirs) or not all(map(math.isfinite, ours + theirs)):
        return math.inf
    if len(ours) == 1:
        # Sums of results in f32, which both sides add in their order.
        return abs(ours[0] - theirs[0]) / max(abs(ours[0]), 1e6)
    most = max(map(abs, ours[1:]))
    grads = max(abs(a - b) for a, b in zip(ours[1:], theirs[1:])) / most
    return max(abs(ours[0] - theirs[0]) / abs(ours[0]), grads)


def agree(ours, others, only, tolerance):
    """Exits if another side computes something different."""
    known = values(ours, only)
    for label, command in others:
        theirs = values(command, only)
        for case in known:
            far = apart(known[case], theirs[case]) if case in theirs else math.inf
            print(f"{case}: {label} differs by {far:.1e}", file=sys.stderr, flush=True)
            if not far <= tolerance:
                raise SystemExit(f"{case}: {label} computes something else")


class Side:
    """A program that measures the cases whose names it reads."""

    def __init__(self, label, *command):
        self.label, self.command = label, [*command, "--ask"]
        self.failed, self.in_a_row = set(), 0
        self.begin()

    def begin(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def seconds(self, case):
        """Returns the seconds of a case, or None if this side does not have it or crashed on it."""
        if case in self.failed:
            return None
        try:
            self.process.stdin.write(case + "\n")
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            self.in_a_row = 0
            return json.loads(line).get("seconds")
        print(f"{case}: {self.label} ended at it ({self.process.wait()})", file=sys.stderr, flush=True)
        self.failed.add(case)
        self.in_a_row += 1
        if self.in_a_row == 3:
            raise SystemExit(f"{self.label} ends at every case")
        self.begin()
        return None


def readable(seconds):
    if seconds is None:
        return "–"
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


class Row:
    """A case, with the seconds of every round for each side."""

    def __init__(self, case, rounds):
        self.case = case
        self.times = {label: [times[label] for times in rounds] for label in rounds[0]}

    def median(self, label):
        times = self.times.get(label, [None])
        return None if None in times else statistics.median(times)

    def ratio(self, label):
        if self.median(label) is None or self.median("nomina") is None:
            return None
        return statistics.median(t / n for t, n in zip(self.times[label], self.times["nomina"]))

    def fastest(self, peers):
        there = [label for label in peers if self.median(label) is not None]
        return min(there, key=self.median, default=None)


def ratio_text(ratio):
    return "–" if ratio is None else f"{ratio:.2f}"


def summary(label, ratios):
    """Formats a line: the mean and the worst of the ratios by case."""
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
    worst = min(ratios, key=ratios.get)
    below = sum(ratio < 0.95 for ratio in ratios.values())
    return (
        f"Against {label}: geometric mean {mean:.2f} over {len(ratios)} cases; "
        f"worst {ratios[worst]:.2f} (`{worst}`); {below} below 0.95."
    )


def scaling(by_threads, other):
    """Formats a table: for each number of threads, nomina's time and the other side's divided by it."""
    counts = sorted(by_threads)
    plural = {count: "1 thread" if count == 1 else f"{count} threads" for count in counts}
    lines = ["| case |" + "".join(f" {plural[count]} | {other}'s by it |" for count in counts)]
    lines.append("|---|" + "--:|--:|" * len(counts))
    for rows in zip(*(by_threads[count] for count in counts)):
        cells = (f" {readable(row.median('nomina'))} | {ratio_text(row.ratio(other))} |" for row in rows)
        lines.append(f"| {rows[0].case} |" + "".join(cells))
    sums = []
    for count in counts:
        ratios = {row.case: row.ratio(other) for row in by_threads[count] if row.ratio(other) is not None}
        sums += [f"{plural[count]}: {summary(other, ratios)}"] if ratios else []
    return "\n".join([*sums, "", *lines])


def report(rows, peers, other):
    lines = [f"| case | {other} | nomina | ratio |" + " fastest peer | ratio |" * bool(peers)]
    lines.append("|---|--:|--:|--:|" + "---|--:|" * bool(peers))
    torch, best = {}, {}
    for row in rows:
        ratio = row.ratio(other)
        if ratio is not None:
            torch[row.case] = ratio
        line = f"| {row.case} | {readable(row.median(other))} | {readable(row.median('nomina'))} | {ratio_text(ratio)} |"
        if peers:
            peer = row.fastest(peers)
            ratio = row.ratio(peer) if peer else None
            if ratio is not None:
                best[row.case] = ratio
            said = f"{peer} {readable(row.median(peer))}" if peer else "–"
            line += f" {said} | {ratio_text(ratio)} |"
        lines.append(line)
    sums = [summary(other, torch)] if torch else []
    sums += [summary("the fastest peer", best)] if best else []
    return "\n".join(["\n\n".join(sums), "", *lines])


def update(path, place, text):
    old = path.read_text()
    begin, end = f"<!-- {place} -->", f"<!-- /{place} -->"
    if begin not in old or end not in old:
        raise SystemExit(f"{path} has no lines {begin} and {end}")
    head, tail = old.split(begin)[0], old.split(end)[1]
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def picture(path, check):
    """Draws the tables of docs/performance.md, or checks that a picture and the README show them."""
    page = (ROOT / "docs/performance.md").read_text()
    drawn, said = speed_svg.draw(page), speed_svg.description(page)
    if not check:
        path.write_text(drawn)
        print(said)
        return
    if path.read_text() != drawn:
        raise SystemExit(f"{path} is out of date: `python scripts/compare.py --svg {path}` writes it")
    if f"![{said}]" not in (ROOT / "README.md").read_text():
        raise SystemExit(f"README.md does not describe the picture as: {said}")


def measured(cases, theirs, sides, rounds, other):
    """Returns the rows of cases, measured by all sides one after another in each round."""
    rows = []
    for case in cases:
        # A fused chain is compared with the same chain of operators, unless PyTorch fuses it too.
        plain = case if case in theirs else case.removeprefix("fused/")
        times = []
        for _ in range(rounds):
            known = {"nomina": case, other: plain if plain in theirs else None}
            asked = ((side, known.get(side.label, plain)) for side in sides)
            times.append({side.label: side.seconds(name) if name else None for side, name in asked})
        rows.append(Row(case, times))
        said = ", ".join(f"{side.label} {readable(rows[-1].median(side.label))}" for side in sides)
        print(f"{case}: {said}", file=sys.stderr, flush=True)
    return rows


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bench", choices=("ops", "grads", "labels"), default="ops")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=lambda text: [int(each) for each in text.split(",")], default=[2])
    p.add_argument("--only")
    p.add_argument("--peers", help="on the host all that have the benchmark, and none on a GPU, unless said")
    p.add_argument("--device", default="cpu")
    p.add_argument("--simd", choices=HELD)
    p.add_argument("--busy", action="store_true", help="beside a process that spins on one core")
    p.add_argument("--ours", help="the benchmark `ops`, as cargo built it")
    p.add_argument("--update", type=pathlib.Path)
    p.add_argument("--svg", type=pathlib.Path)
    p.add_argument("--check", action="store_true")
    args = p.parse_args()
    if args.svg:
        picture(args.svg, args.check)
        return
    on_host = args.device == "cpu"
    several = len(args.threads) > 1
    if several and not (on_host and args.bench in SCALED):
        raise SystemExit("several numbers of threads: on the host, `--bench ops` or `--bench grads`")
    only = (SCALED[args.bench] if several else "") if args.only is None else args.only
    os.environ.update(HELD.get(args.simd, {}))
    there = PEERS_OF[args.bench] if on_host and not args.simd and not several else ""
    peers = [peer for peer in (there if args.peers is None else args.peers).split(",") if peer]
    if not set(peers) <= set(there.split(",")):
        raise SystemExit(f"peers of `{args.bench}` on {args.device}: `--peers '{there}'`")
    device = [] if on_host else ["--device", args.device]

    other, program = OTHERS[args.bench]
    package = ["-p", "nomina-data"] if args.bench == "labels" else []
    ours = args.ours or built("bench", *package, "--bench", args.bench, "--no-run", *([] if on_host else ["--features", "cuda"]))
    torch = [sys.executable, str(pathlib.Path(__file__).resolve().parent / "bench" / program), *device]
    cases, theirs = names(ours, *device), names(*torch)
    for case in theirs:
        # Some chains are measured only fused, and steps with gradients are cases of `grads`.
        if not {case, f"fused/{case}"} & set(cases) and not (args.bench == "ops" and case.startswith("mlp_train_step")):
            raise SystemExit(f"`{args.bench}` has no case {case}, which {other}'s side has")
    cases = [case for case in cases if any(part in case for part in only.split(","))]
    if not cases:
        raise SystemExit(f"no case with `{only}` in its name")
    program = built("build", "--release", "--manifest-path", PEERS) if peers else None
    if args.busy:
        atexit.register(subprocess.Popen([sys.executable, "-c", "while True: pass"]).kill)
    by_threads, ended = {}, {}
    for count in args.threads:
        threads = ["--threads", str(count)]
        commands = [(other, [*torch, *threads]), *((peer, [program, *threads, "--peer", peer]) for peer in peers)]
        if args.bench in ("grads", "labels"):
            agree([ours, *threads], commands, only, TOLERANCES[args.bench])
        sides = [Side("nomina", ours, *threads, *device), *(Side(label, *command) for label, command in commands)]
        by_threads[count] = measured(cases, theirs, sides, args.rounds, other)
        for side in sides:
            side.process.kill()
            ended.setdefault(side.label, set()).update(side.failed)
    text = scaling(by_threads, other) if several else report(by_threads[args.threads[0]], peers, other)
    print(text)
    for label, failed in ended.items():
        if failed:
            print(f"\n{label} ended at {', '.join(sorted(failed))}.")
    if args.update:
        update(args.update, "-".join(filter(None, [PLACES[args.bench], args.simd, args.busy and "busy", several and "threads"])), text)
    if ended["nomina"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
