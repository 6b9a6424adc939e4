#!/usr/bin/env bash
# Runs a pack on a machine with a GPU. usage: run.sh [--budget SECONDS] [STEP]...
# steps, most important first: first convolutions conformance kernels package gpt headlines bench cold sanitize large
# scaling
#
# It needs no cargo: the programs next to it are already built. It needs the driver; kernels that are not
# in cache/ need libnvrtc, products cuBLASLt, and comparisons python3 with PyTorch; the libraries in PyTorch's
# wheels are found. Results are written to $OUT, else to out/ next to this file, as they arrive: figures.md and
# log.tar.gz, with the output of every part, are rewritten after each. If the run is ended early or the budget is
# spent, only the running part is lost. cache.tar.xz has the kernels and plans that were made here.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
here=$PWD
every_step="first convolutions conformance kernels package gpt headlines bench cold sanitize large scaling"
budget=1000000
steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --budget)
        budget=${2:?"--budget needs seconds"}
        shift
        ;;
    *)
        [[ " $every_step " == *" $1 "* ]] || { echo "no step $1; there are $every_step"; exit 2; }
        steps+=("$1")
        ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || read -ra steps <<<"$every_step"
out=${OUT:-$here/out}
# Parts write here, since only few files come back from some machines.
work=$here/work
[ ! -e "$work" ] || mv "$work" "$work-$(date +%s)"
mkdir -p "$out" "$work/log" "$work/rows"
touch "$work/begun"

# The programs look for their data at the path where they were built.
root=$(cat root)
if [ ! -e "$root" ]; then
    mkdir -p "$(dirname "$root")" && ln -sfn "$here" "$root" || exit 1
fi

wheels=$(python3 -c 'import glob, site, sysconfig
for folder in {sysconfig.get_path("purelib"), *site.getsitepackages()}:
    print(*glob.glob(folder + "/nvidia/*/lib"), sep=":", end=":")' 2>/dev/null)
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}:${wheels:-}:/usr/local/cuda/lib64:/usr/local/nvidia/lib64"
export NOMINA_CUDA_CACHE=${NOMINA_CUDA_CACHE:-$here/cache}
# Runs all cases instead of a sample, unless SAMPLE is set.
if [ -n "${SAMPLE:-}" ]; then unset NOMINA_EVERY; else export NOMINA_EVERY=1; fi
at_once=$(nproc)
[ "$at_once" -le 16 ] || at_once=16

card=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | sed -n 1p)
if [ -z "$card" ]; then
    echo "warning: nvidia-smi does not run; the driver is asked without it"
    card="a card that nvidia-smi does not show"
fi

figures() {
    {
        echo "$(date -u +%Y-%m-%d), $card"
        echo
        [ ! -s "$work/log/report" ] || { sed -n '/^device: /,/^cuDNN: /p' "$work/log/report"; echo; }
        echo "| step | | time | |"
        echo "|---|---|--:|---|"
        cat "$work"/rows/* 2>/dev/null
        cat "$work"/log/conformance-* 2>/dev/null |
            awk '/^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3; n++ }
                 END { if (n) print "| conformance, " n " parts of 16 | | | " p " passed, " f " failed |" }'
        local table bench=bench
        grep -q '^| case' "$work/log/bench" 2>/dev/null || bench=headlines
        for table in convolutions $bench gpt-torch gpt-compiled scaling scaling-steps; do
            if grep -q '^|' "$work/log/$table" 2>/dev/null; then
                printf '\n%s:\n\n' "$table"
                grep -E '^($|\||Against|[0-9]+ threads?:)' "$work/log/$table"
            fi
        done
    } >"$work/figures.$BASHPID"
    tar -C "$work" -czf "$work/log.$BASHPID" log rows
    mv "$work/log.$BASHPID" "$out/log.tar.gz"
    mv "$work/figures.$BASHPID" "$out/figures.md"
}

count=0
# Returns the seconds since a time, to a tenth.
since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'; }
# write_row PLACE NAME STATE SECONDS WORDS: sets the table's row of a part; `row` also writes the figures.
write_row() { printf '| %s | %s | %s s | %s |\n' "$2" "$3" "$4" "$5" >"$work/rows/$1"; }
row() {
    write_row "$@"
    figures
}
# Prints a short summary of a part's output.
telling() {
    local cases last
    cases=$(grep -oE '[0-9]+ cases' "$1" | awk '{ n += $1 } END { if (n) print n " cases; " }')
    last=$(grep -E 'test result|passed|elements|ERROR SUMMARY|Against|[Ee]rror' "$1" | tail -1)
    echo "$cases$last" | sed 's/test result: //; s/; 0 measured.*//; s/|/\//g' | cut -c1-120
}
# measured PLACE NAME LIMIT NEEDED COMMAND...: runs a part, limited by LIMIT and the budget. It passes if the command
# succeeds and its output matches NEEDED.
measured() {
    local place=$1 name=$2 limit=$3 needed=$4 start=$EPOCHREALTIME rest=$((budget - SECONDS))
    local log=$work/log/$2 state code took
    shift 4
    if [[ $1 == bin/* && ! -x $1 ]]; then
        row "$place" "$name" "left out" 0 "the pack has no $1"
        return
    fi
    [ "$limit" -le "$rest" ] || limit=$rest
    if [ "$limit" -le 0 ]; then
        write_row "$place" "$name" "left out" 0 "the budget is spent"
        return
    fi
    row "$place" "$name" running "$SECONDS" "begun"
    timeout --kill-after=2 "$limit" "$@" >"$log" 2>&1 &
    local pid=$!
    trap 'kill "$pid"' TERM
    wait "$pid"
    code=$?
    trap - TERM
    case $code in
    0) grep -Eq "$needed" "$log" && state=passed || state="failed: it looked at nothing" ;;
    124 | 137 | 143) state="cut off" ;;
    *) state="failed ($code)" ;;
    esac
    took=$(since "$start")
    row "$place" "$name" "$state" "$took" "$(telling "$log")"
    echo "   $name: $state after $took s; $(telling "$log")"
    case $state in passed) ;; *) tail -3 "$log" ;; esac
}
# Like `measured`, but in the background, one per processor at a time; `wait` waits for all of them.
begin() {
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
    count=$((count + 1))
    measured "$(printf %03d $count)" "$@" &
}
step() {
    begin "$@"
    wait
}
# left_out NAME WHY: sets the row of a part that cannot run here.
left_out() {
    count=$((count + 1))
    row "$(printf %03d $count)" "$1" "left out" 0 "$2"
}
# has_torch [cuda]: returns whether there is PyTorch, and whether it sees a GPU.
has_torch() { python3 -c "import torch${1:+; raise SystemExit(not torch.cuda.is_available())}" 2>/dev/null; }
finish() {
    trap '' TERM INT
    local running
    running=$(jobs -rp)
    # shellcheck disable=SC2086 # several words, or none
    [ -z "$running" ] || kill $running 2>/dev/null
    wait
    # Parts that were killed before they could report.
    sed -i 's/ | running | / | cut off | /' "$work"/rows/* 2>/dev/null
    # Leave out the kernels that came with the pack.
    find "$NOMINA_CUDA_CACHE" -type f -newer "$work/begun" -printf '%P\0' 2>/dev/null |
        tar -C "$NOMINA_CUDA_CACHE" --null -T - -cf - 2>/dev/null | xz -T0 -1 >"$out/cache.tar.xz"
    figures
    cat "$out/figures.md"
}
trap finish EXIT
trap 'exit 143' TERM INT

some='[1-9][0-9]* cases'
device_tests() {
    local test
    for test in bin/cuda_*; do
        [ "$test" = bin/cuda_large ] || echo "$test"
    done
}
# Twelve representative cases.
headlines=add/10M,chain/10M,add_bcast_last/10M,sum_last/10M,sum_first/10M,softmax_last/10M,transpose_copy/10M,median_last/1M
headlines+=,randn/10M,matmul_f32/2048,matmul_bf16/1024,bias_gelu/10M
compare() {
    local name=$1 limit=$2
    shift 2
    if [ ! -x bin/ops ]; then
        left_out "$name" "the pack has no benchmark"
    elif has_torch cuda; then
        step "$name" "$limit" '^\| case' python3 scripts/compare.py --device cuda --ours bin/ops "$@"
    else
        echo "warning: no PyTorch: nothing to compare with"
        step "$name" "$limit" seconds bin/ops --device cuda --json
    fi
}

for asked in "${steps[@]}"; do
    echo "== $asked, with $((budget - SECONDS)) s left"
    case $asked in
    first)
        step report 60 '^device: ' bin/cuda_devices --exact libraries::report --nocapture
        grep -q '^device: ' "$work/log/report" || { echo "no device: $(tail -3 "$work/log/report")"; exit 1; }
        step twenty 60 "$some" bin/cuda_devices --exact libraries::twenty_operators --nocapture
        ;;
    convolutions)
        step cudnn 150 '[1-9][0-9]* by cuDNN' bin/cuda_conv library:: --test-threads=1 --nocapture
        compare convolutions 120 --rounds 1 --only conv2d
        ;;
    conformance)
        for part in {0..15}; do
            begin "conformance-$part" 240 '[1-9][0-9]* passed' bin/conformance --device cuda --part "$part/16"
        done
        wait
        ;;
    kernels)
        for test in $(device_tests); do
            # cuDNN's results are not exact to the last bit; tests of cuDNN select it themselves.
            NOMINA_CUDA_CONV=own begin "$(basename "$test")" 240 "$some" "$test" --test-threads=1 --nocapture
        done
        wait
        ;;
    package)
        if [ ! -s kernels.pack ]; then
            left_out package "the pack has no package of compiled kernels"
            continue
        fi
        NOMINA_CUDA_CACHE=0 NOMINA_CUDA_KERNELS=$here/kernels.pack \
            step package 120 'compiled kernels: [1-9][0-9]* modules' \
            bin/cuda_models --exact shipped::inside --include-ignored --nocapture
        ;;
    gpt)
        # 25 million parameters, unless NOMINA_GPT has other sizes.
        export NOMINA_GPT=${NOMINA_GPT:-512,8,8,256,16,200}
        step gpt 150 '^speed' bin/cuda_models --exact gpt::trained --include-ignored --nocapture
        if has_torch cuda; then
            step gpt-torch 90 '^\| f32' python3 scripts/bench/torch_gpt.py "$work/log/gpt" --device cuda
            step gpt-compiled 120 '^\| f32' python3 scripts/bench/torch_gpt.py "$work/log/gpt" --device cuda --compile
        else
            left_out gpt-torch "no PyTorch: nothing to compare with"
        fi
        ;;
    cold)
        # Twenty operators in a new process: with the package, by the compiler, and from the cache that it has filled.
        first=(bin/cuda_devices --exact libraries::twenty_operators --nocapture)
        [ ! -s kernels.pack ] || NOMINA_CUDA_CACHE=0 NOMINA_CUDA_KERNELS=$here/kernels.pack \
            step cold-package 90 "$some" "${first[@]}"
        for cache in cold-compiler cold-cache; do
            NOMINA_CUDA_CACHE=$work/cold NOMINA_CUDA_KERNELS=0 step $cache 90 "$some" "${first[@]}"
        done
        ;;
    headlines)
        compare headlines 150 --rounds 1 --only "$headlines"
        ;;
    bench)
        compare bench 540 --rounds 1
        ;;
    sanitize)
        if ! command -v compute-sanitizer >/dev/null; then
            left_out sanitize "compute-sanitizer is not installed"
            continue
        fi
        for tool in memcheck racecheck initcheck synccheck; do
            for test in cuda_gemm cuda_reduce cuda_index cuda_conv cuda_copy cuda_random cuda_attention; do
                [ -x "bin/$test" ] || continue
                begin "$tool-$test" 240 "$some" env -u NOMINA_EVERY NOMINA_CUDA_CONV=own compute-sanitizer --tool "$tool" \
                    --target-processes all --error-exitcode 9 "bin/$test" --test-threads=1 --nocapture
            done
        done
        wait
        ;;
    large)
        step cuda_large 300 'elements' bin/cuda_large --nocapture --test-threads=1
        ;;
    scaling)
        # On the host: nothing else runs meanwhile.
        if ! has_torch; then
            left_out scaling "no PyTorch: nothing to compare with"
            continue
        fi
        threads=(--threads 1,2,4,8,16 --rounds 1)
        step scaling 240 '^\| case' python3 scripts/compare.py "${threads[@]}" --ours bin/ops
        step scaling-steps 240 '^\| case' python3 scripts/compare.py "${threads[@]}" --bench grads --ours bin/grads
        ;;
    esac
done
if grep -qE '\| (failed|cut off)|the budget is spent' "$work"/rows/*; then exit 1; fi
