"""Downloads the libraries that compile CUDA kernels, for machines without CUDA.

usage: python3 scripts/cuda/fetch.py [--into target/cuda] [--offline]        needs: pip, and Linux on x86-64 or arm64

The wheels are those of wheels.txt; pip checks their hashes. Downloaded libraries are kept, and a second call only
prints their folder. The last line printed is the folder to put on LD_LIBRARY_PATH. If the libraries are not available,
the script prints the reason and exits with status 3.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
WHEELS = HERE / "wheels.txt"
# A second build of the same libraries, for the loader of another C library, which is not needed.
LEFT_OUT = ".alt.so"
CANNOT = 3


def wanted():
    """Returns the name and version of every wheel as one word, for a folder's name."""
    pins = re.findall(r"^([\w-]+)==([\w.]+)", WHEELS.read_text(), re.MULTILINE)
    if not pins:
        raise SystemExit(f"{WHEELS} names no wheel")
    return "+".join(f"{name.removeprefix('nvidia-cuda-')}-{version}" for name, version in pins)


def cannot(why):
    print(f"left out: {why}", file=sys.stderr)
    raise SystemExit(CANNOT)


def download(folder, wheels=WHEELS):
    """Downloads the wheels that a file pins; pip checks their hashes."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "--requirement", str(wheels), "--dest", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in done.stdout:
        # The network works, so this error needs attention.
        raise SystemExit(done.stdout)
    if done.returncode:
        lines = done.stdout.strip().splitlines() or ["pip said nothing"]
        cannot(f"pip could not download what {wheels.name} names: {lines[-1]}")


def unpack(wheels, folder):
    """Moves the shared libraries of the wheels into one folder."""
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                name = pathlib.PurePosixPath(member).name
                if "/lib/" in member and ".so" in name and LEFT_OUT not in name:
                    with archive.open(member) as source, open(folder / name, "wb") as target:
                        shutil.copyfileobj(source, target)


def fetched(into, offline=False):
    """Returns the folder of the libraries, downloading them if necessary."""
    folder = into / wanted()
    if not folder.is_dir():
        if offline:
            cannot("the compiler was not fetched (`cargo xtask kernels` does)")
        if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
            cannot(f"there are no such wheels for {platform.system()} on {platform.machine()}")
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as scratch:
            scratch = pathlib.Path(scratch)
            download(scratch)
            made = scratch / "lib"
            made.mkdir()
            unpack(scratch, made)
            try:
                # Renames atomically, so that nobody sees an incomplete folder.
                os.rename(made, folder)
            except OSError:
                # Another process was faster.
                if not folder.is_dir():
                    raise
    return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=pathlib.Path, default=HERE.parents[1] / "target/cuda")
    parser.add_argument("--offline", action="store_true", help="only say where what was fetched is")
    args = parser.parse_args()
    print(fetched(args.into.resolve(), args.offline))


if __name__ == "__main__":
    main()
