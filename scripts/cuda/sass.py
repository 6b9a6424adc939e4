"""Reports the memory accesses in the machine code of kernels, for machines without a GPU.

usage: cargo xtask kernels --names | grep REGEX | python3 scripts/cuda/sass.py [--arch 90] [--code] [--all]
       python3 scripts/cuda/sass.py --modules scripts/cuda/sass.txt      needs: pip, and Linux on x86-64

Each input line names a module (`softmax.cu OP=Softmax T0=f32 ...`), optionally followed by ` # ` and its name in the
table. A module is compiled by the NVRTC of fetch.py with the options of the library, and disassembled by the nvdisasm of
disassembler.txt. The table's columns for each kernel are

    loads, stores   instructions that access global memory, by width: 3x128 means three of 16 bytes
    in flight       the maximum of bytes that a thread requests before it waits for the first of them, in the whole code
                    and in each of the innermost loops with loads
    SM              the greatest of these for all threads on an SM, limited by registers, static shared memory and block
    mma             instructions of tensor cores
    barriers        barriers of a block
    local           bytes loaded from and stored to local memory, by instruction
    divisions       calls of routines that divide 64-bit integers

Bytes in flight are found by walking through the code in order, an innermost loop twice: a load is requested at its
instruction, and waited for where a register that it writes is read or written. Both sides of a branch count.
"""

import argparse
import collections
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import fetch

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parents[1] / "runtime/kernels"
WHEEL = HERE / "disassembler.txt"
# Elementwise operators and reductions are compiled without contraction (`Source::contracts`).
EXACT = ("map.cu", "reduce.cu", "fused.cu")

# The limits of an SM: threads, blocks, registers, shared memory of blocks.
THREADS, BLOCKS, REGISTERS, SHARED = 2048, 32, 65536, 227 << 10


def disassembler(into):
    """Returns the path of nvdisasm, from a wheel whose hash pip checks."""
    (name, version), = re.findall(r"^([\w-]+)==([\w.]+)", WHEEL.read_text(), re.MULTILINE)
    tool = into / f"{name}-{version}" / "nvdisasm"
    if not tool.is_file():
        tool.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as scratch:
            scratch = pathlib.Path(scratch)
            fetch.download(scratch, WHEEL)
            wheel, = scratch.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                member, = (one for one in archive.namelist() if one.endswith("/nvdisasm"))
                (scratch / "nvdisasm").write_bytes(archive.read(member))
            (scratch / "nvdisasm").chmod(0o755)
            (scratch / "nvdisasm").rename(tool)
    return tool


class Compiler:
    """NVRTC."""

    def __init__(self, folder, arch):
        for library in sorted(folder.glob("libnvrtc-builtins.so*")):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        found = [one for one in sorted(folder.glob("libnvrtc.so*")) if "builtins" not in one.name]
        self.library, self.arch = ctypes.CDLL(str(found[0])), arch
        headers = sorted(KERNELS.glob("*.cuh"))
        self.names = (ctypes.c_char_p * len(headers))(*(one.name.encode() for one in headers))
        self.texts = (ctypes.c_char_p * len(headers))(*(one.read_bytes() for one in headers))

    def get(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, text)
        return text.raw

    def compile(self, module):
        """Compiles a module, given by its name. Returns PTX, code and the output of ptxas."""
        file, *defines = re.split(r" (?=[A-Z][A-Z0-9_]*=)", module)
        text = "".join(f"#define {one.replace('=', ' ', 1)}\n" for one in defines)
        text += "#line 1\n" + (KERNELS / file).read_text()
        options = ["--std=c++17", "--minimal", f"--gpu-architecture=sm_{self.arch}", "--ptxas-options=-v"]
        options += ["--fmad=false"] if file in EXACT else []
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), file.encode(), len(self.names), self.texts, self.names
        )
        words = (ctypes.c_char_p * len(options))(*(one.encode() for one in options))
        status = self.library.nvrtcCompileProgram(program, len(options), words)
        log = self.get(program, "ProgramLog").decode(errors="replace")
        if status:
            raise SystemExit(f"{module}: {log}")
        made = self.get(program, "PTX").decode(errors="replace"), self.get(program, "CUBIN"), log
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return made


class Instruction:
    def __init__(self, address, predicate, name, operands, label):
        self.address, self.predicate, self.label = address, predicate, label
        self.name, *self.marks = name.split(".")
        self.operands = operands

    @property
    def width(self):
        """Returns the bytes that a load or a store moves per thread."""
        for mark, size in (("128", 16), ("64", 8), ("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)):
            if mark in self.marks:
                return size
        return 4

    def registers(self, text, count=1):
        """Returns the numbers of the registers that an operand names."""
        found = set()
        for number, mark in re.findall(r"(?<![A-Z])R(\d+)((?:\.64)?)", text):
            found.update(range(int(number), int(number) + (2 if mark else count)))
        return found

    def written(self):
        if self.name in ("ST", "STG", "STS", "STL", "RED", "BRA", "EXIT", "BAR") or not self.operands:
            return set()
        return self.registers(self.operands[0], max(1, self.width // 4) if self.name.startswith("LD") else 4 if self.name in ("HMMA", "IMMA") else 1)

    def read(self):
        wide = max(1, self.width // 4) if self.name.startswith("ST") else 1
        start = 0 if self.name.startswith(("ST", "RED")) or not self.operands else 1
        found = set()
        for one in self.operands[start:]:
            found |= self.registers(one, wide if not one.startswith("[") and "desc" not in one else 1)
        return found


LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")


def read_code(text):
    """Returns the instructions of each function, with labels as addresses."""
    functions = {}
    for part in re.split(r"^\s*\.section\s+\.text\.", text, flags=re.MULTILINE)[1:]:
        name = part.split(",", 1)[0].strip()
        labels, code, waiting = {}, [], []
        for line in part.splitlines():
            label = re.match(r"^(\.L_x_\d+|\$\S+):", line)
            if label:
                waiting.append(label[1])
            found = LINE.search(line)
            if not found:
                continue
            address = int(found[1], 16)
            labels.update((one, address) for one in waiting)
            waiting.clear()
            operands = [one.strip() for one in re.split(r",(?![^\[]*\])", found[4]) if one.strip()]
            code.append(Instruction(address, found[2], found[3], operands, None))
        for one in code:
            if one.name in ("BRA", "CALL"):
                target = re.search(r"`\((\S+?)\)", " ".join(one.operands))
                one.label = labels.get(target[1]) if target else None
                one.callee = target[1] if target else ""
        functions[name] = code
    return functions


def loops(code):
    """Returns the innermost loops, by the indices of their first and last instructions."""
    at = {one.address: place for place, one in enumerate(code)}
    found = []
    for place, one in enumerate(code):
        if one.name == "BRA" and one.label is not None and one.label < one.address and one.label in at:
            found.append((at[one.label], place))
    inner = [a for a in found if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in found)]
    return [loop for loop in inner if loop[1] > loop[0]]


def in_flight(code):
    """Returns the maximum of bytes requested but not yet waited for, at a point where one of them is needed."""
    pending, most = collections.OrderedDict(), 0
    for one in code:
        touched = one.read() | one.written()
        for load in [load for load, registers in pending.items() if registers & touched]:
            most = max(most, sum(load.width for load in pending))
            # Earlier loads have usually arrived too, since they complete in order.
            for earlier in list(pending):
                del pending[earlier]
                if earlier is load:
                    break
        if one.name in ("LDG", "LD"):
            pending.pop(one, None)
            pending[one] = one.written()
        if one.name == "LDGSTS":
            pending[one] = set()
        if one.name in ("LDGDEPBAR", "DEPBAR", "EXIT", "CALL", "RET"):
            most = max(most, sum(load.width for load in pending))
    return max(most, sum(load.width for load in pending))


def widths(code, names):
    counts = collections.Counter(one.width for one in code if one.name in names)
    return " ".join(f"{count}x{8 * width}" for width, count in sorted(counts.items(), reverse=True)) or "-"


def resident(registers, shared, threads):
    """Returns the number of threads resident on an SM."""
    warps = -(-threads // 32)
    by_registers = REGISTERS // (-(-registers * 32 // 256) * 256) // warps
    by_shared = SHARED // (shared + 1024)
    return threads * min(by_registers, by_shared, BLOCKS, THREADS // threads)


def kernels(compiler, tool, module):
    """Returns the table's rows of the kernels of a module."""
    ptx, code, log = compiler.compile(module)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        text = subprocess.run([tool, "-c", file.name], stdout=subprocess.PIPE, check=True, text=True).stdout
    bounds = dict(re.findall(r"\.entry (\w+)\([^)]*\)\s*\.maxntid (\d+)", ptx))
    for name, code in read_code(text).items():
        report = re.search(rf"properties for {name}\n.*?Used (\d+) registers(.*)", log, re.DOTALL)
        if not report:
            continue
        shared = re.search(r"(\d+) bytes smem", report[2].splitlines()[0])
        registers, shared = int(report[1]), int(shared[1]) if shared else 0
        threads = int(bounds.get(name, 256))
        bodies = [code, *(code[first : last + 1] * 2 for first, last in loops(code))]
        flights = sorted({in_flight(body) for body in bodies} - {0} or {0}, reverse=True)
        flight = max(flights)
        held = resident(registers, shared, threads)
        yield {
            "kernel": name,
            "registers": registers,
            "threads": f"{held} by {threads}",
            "loads": widths(code, ("LDG", "LD", "LDGSTS")),
            "stores": widths(code, ("STG", "ST")),
            "in flight": "/".join(map(str, flights)),
            "SM": f"{flight * held / 1024:.0f} KiB",
            "mma": sum(one.name in ("HMMA", "IMMA", "DMMA", "HGMMA") for one in code),
            "barriers": sum(one.name == "BAR" for one in code),
            "local": widths(code, ("LDL", "STL")),
            "divisions": sum(one.name == "CALL" and bool(re.search(r"(div|rem)_[us]64", one.callee)) for one in code),
            "text": text,
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", type=argparse.FileType(), default=sys.stdin)
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--code", action="store_true", help="print the code instead")
    args = parser.parse_args()
    into = HERE.parents[1] / "target/cuda"
    compiler, tool = Compiler(fetch.fetched(into), args.arch), disassembler(into)
    columns = None
    for line in args.modules:
        module, _, called = (part.strip() for part in line.partition(" # "))
        if not module or module.startswith("#"):
            continue
        for kernel in kernels(compiler, tool, module):
            text = kernel.pop("text")
            if args.code:
                print(text)
                break
            if not columns:
                columns = ["module", *kernel]
                print("| " + " | ".join(columns) + " |")
                print("|---|---|" + "--:|" * (len(columns) - 2))
            print("| " + " | ".join([called or module, *map(str, kernel.values())]) + " |", flush=True)


if __name__ == "__main__":
    main()
