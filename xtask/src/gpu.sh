#!/usr/bin/env bash
# What a machine with a GPU has to say. usage: run.sh [conformance] [kernels] [large] [sanitize] [bench]
#
# It needs no cargo: the programs beside it were built before. It needs the driver, libnvrtc and
# libcublasLt, and for the last step python3 with PyTorch; libraries of PyTorch's wheels are found.
# Every step's output lies in log/, and the table in figures.md.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(conformance kernels large sanitize bench)
mkdir -p log

# Where the programs were built they know their data by its path.
root=$(cat root)
if [ ! -e "$root" ]; then
    mkdir -p "$(dirname "$root")" && ln -sfn "$here" "$root" || exit 1
fi

wheels=$(python3 -c 'import glob, site, sysconfig
for folder in {sysconfig.get_path("purelib"), *site.getsitepackages()}:
    print(*glob.glob(folder + "/nvidia/*/lib"), sep=":", end=":")' 2>/dev/null)
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}:${wheels:-}:/usr/local/cuda/lib64:/usr/local/nvidia/lib64"
export NOMINA_CUDA_CACHE=$here/cache
# All cases, and no sample of them.
export NOMINA_EVERY=1

failed=0
rows=()
# Runs a command under a name; the last line that it prints stands in the table.
step() {
    local name=$1 start=$SECONDS state=passed
    shift
    echo "== $name: $*"
    "$@" >"log/$name" 2>&1 || { state="failed ($?)"; failed=1; }
    local last
    last=$(grep -E 'passed|few elements|left out|ERROR SUMMARY|geometric mean' "log/$name" | tail -1 | tr '|' '/' | cut -c1-120)
    rows+=("| $name | $state | $((SECONDS - start)) s | ${last:-see log} |")
    echo "   $state after $((SECONDS - start)) s; ${last:-see log/$name}"
    [ "$state" = passed ] || tail -5 "log/$name"
}
device_tests() {
    local test
    for test in bin/cuda_*; do
        [ "$test" = bin/cuda_large ] || echo "$test"
    done
}
card=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -1)
[ -n "$card" ] || { echo "no GPU here: nvidia-smi shows none"; exit 1; }
echo "$card"

for asked in "${steps[@]}"; do
    case $asked in
    conformance)
        step conformance bin/conformance --device cuda
        ;;
    kernels)
        for test in $(device_tests); do
                       step "$(basename "$test")" "$test" --test-threads=1
        done
        ;;
    large)
        step cuda_large bin/cuda_large --nocapture --test-threads=1
        ;;
    sanitize)
        if ! command -v compute-sanitizer >/dev/null; then
            rows+=("| sanitize | left out | | compute-sanitizer is not installed |")
            continue
        fi
        for tool in memcheck racecheck initcheck synccheck; do
            for test in $(device_tests); do
                step "$tool-$(basename "$test")" timeout "${SANITIZE_SECONDS:-300}" compute-sanitizer \
                    --tool "$tool" --error-exitcode 9 "$test" --test-threads=1
            done
        done
        ;;
    bench)
        step bench python3 scripts/compare.py --device cuda --ours bin/ops --rounds 2
        ;;
    *)
        echo "no step $asked; there are conformance, kernels, large, sanitize and bench"
        exit 2
        ;;
    esac
done

{
    echo "$(date -u +%Y-%m-%d), $card MiB; $(python3 -c 'import torch; print("PyTorch", torch.__version__)' 2>/dev/null)"
    echo
    echo "| step | | time | |"
    echo "|---|---|--:|---|"
    printf '%s\n' "${rows[@]}"
    if [ -s log/bench ]; then
        echo
        sed -n '/^Against/,$p' log/bench
    fi
} >figures.md
cat figures.md
exit $failed
