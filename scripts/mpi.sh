#!/bin/sh
# Builds and tests the crate nomina-mpi with each MPI of Debian that is installed.
#
#   scripts/mpi.sh install    installs both MPIs and libclang (as root)
#   scripts/mpi.sh build      builds the crate and its tests
#   scripts/mpi.sh lint       formatting, and clippy without a warning
#   scripts/mpi.sh test       runs its tests; NOMINA_FAULT_RUNS=10 runs each fault so often
#   scripts/mpi.sh bench      compares two ranks with bare MPI
#
# MPIS=mpich, or MPIS=openmpi, takes one of them.
set -eu
self=$(realpath "$0")
cd "$(dirname "$self")/../mpi"


install() {
    apt-get install -y mpich libmpich-dev openmpi-bin libopenmpi-dev libclang1-14 libclang-common-14-dev
}

# Runs cargo with one MPI. A binary serves the one that it was built with.
with() {
    mpi=$1
    shift
    flags=
    if [ "$mpi" = openmpi ]; then
        # Ranks may be more than cores, and processes of a container may not read each other's memory.
        flags="--oversubscribe --mca btl self,vader --mca btl_vader_single_copy_mechanism none"
        [ "$(id -u)" -ne 0 ] || flags="--allow-run-as-root $flags"
    fi
    echo "== $mpi: cargo $*"
    MPICC=mpicc.$mpi MPIEXEC=mpiexec.$mpi MPIEXEC_FLAGS=$flags CARGO_TARGET_DIR=target/$mpi cargo "$@"
}

each() {
    found=
    for mpi in ${MPIS:-mpich openmpi}; do
        if command -v "mpicc.$mpi" > /dev/null; then
            found=$mpi
            with "$mpi" "$@"
        else
            echo "== $mpi: not installed"
        fi
    done
    if [ -z "$found" ]; then
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
    bench) each bench --locked ;;
    *)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$self" >&2
        exit 2
        ;;
esac
