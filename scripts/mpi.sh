#!/bin/sh
# Builds and tests the crate nomina-mpi with each MPI of Debian that is installed.
#
#   scripts/mpi.sh install    installs both MPIs and libclang (as root)
#   scripts/mpi.sh build      builds the crate and its tests
#   scripts/mpi.sh lint       formatting, and clippy without a warning
#   scripts/mpi.sh test       runs its tests; NOMINA_FAULT_RUNS=10 repeats each fault ten times, NOMINA_FAULT=disk selects one
#   scripts/mpi.sh train      trains a small GPT on four processes and on one: the losses are equal
#   scripts/mpi.sh bench      compares two ranks with bare MPI, and with mpi4py and PyTorch's gloo where $PYTHON has them
#
# MPIS=mpich or MPIS=openmpi selects one of them.
set -eu
self=$(realpath "$0")
cd "$(dirname "$self")/../mpi"


install() {
    apt-get install -y mpich libmpich-dev openmpi-bin libopenmpi-dev libclang1-14 libclang-common-14-dev
}

# Prints the flags of an MPI's `mpiexec`.
flags() {
    if [ "$1" = openmpi ]; then
        # There may be more ranks than cores, and processes in a container may not read each other's memory.
        [ "$(id -u)" -ne 0 ] || printf -- '--allow-run-as-root '
        echo "--oversubscribe --mca btl self,vader --mca btl_vader_single_copy_mechanism none"
    fi
}

# Runs cargo with one MPI. A binary works only with the MPI that it was built with.
with() {
    mpi=$1
    shift
    echo "== $mpi: cargo $*"
    MPICC=mpicc.$mpi MPIEXEC=mpiexec.$mpi MPIEXEC_FLAGS=$(flags "$mpi") CARGO_TARGET_DIR=target/$mpi cargo "$@"
}

each() {
    built=
    for mpi in ${MPIS:-mpich openmpi}; do
        if command -v "mpicc.$mpi" > /dev/null; then
            built="$built $mpi"
            with "$mpi" "$@"
        else
            echo "== $mpi: not installed"
        fi
    done
    if [ -z "$built" ]; then
        echo "no MPI is installed: $0 install" >&2
        exit 1
    fi
}

case ${1:-} in
    install) install ;;
    build) each build --locked --all-targets ;;
    lint)
        cargo fmt --check
        each clippy --locked --all-targets -- -D warnings
        ;;
    test) each test --locked ;;
    train)
        each build --locked --release --example charlm_mesh
        for mpi in $built; do
            for mesh in 1x1 2x2; do
                ranks=$((${mesh%x*} * ${mesh#*x}))
                # shellcheck disable=SC2086 # several flags
                mpiexec.$mpi $(flags "$mpi") -n "$ranks" "target/$mpi/release/examples/charlm_mesh" --mesh "$mesh" --steps "${STEPS:-20}"
            done
        done
        ;;
    bench)
        each bench --locked
        # The peers, if they are installed.
        for mpi in $built; do
            # shellcheck disable=SC2086 # several flags
            MPI4PY_MPIABI=$mpi mpiexec.$mpi $(flags "$mpi") -n 2 "${PYTHON:-python3}" ../scripts/bench/mpi_peers.py mpi4py || true
        done
        "${PYTHON:-python3}" ../scripts/bench/mpi_peers.py gloo || true
        ;;
    *)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$self" >&2
        exit 2
        ;;
esac
