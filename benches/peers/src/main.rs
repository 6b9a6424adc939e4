//! The cases of `cargo bench --bench ops` for other Rust libraries, and some of `--bench grads` for burn:
//! `cargo run --release --manifest-path benches/peers/Cargo.toml -- [--json] [--peer NAME]`.
//!
//! Each case is written as a user of the library writes it; if the library leaves threading to its user, with `rayon`
//! from a million elements on. Cases without an operator in the library are left out, and the table says why.

mod burn_grads;
#[path = "../../harness/mod.rs"]
mod harness;
#[path = "../../grads/inputs.rs"]
mod inputs;
mod with_burn;
mod with_candle;
mod with_ndarray;

use harness::{Case, Options};

/// Returns the cases of a library.
type Cases = fn() -> Vec<Case>;

const PEERS: [(&str, Cases); 3] = [
    ("ndarray", with_ndarray::cases),
    ("candle", with_candle::cases),
    ("burn", with_burn::cases),
];

/// Rows and columns: ten million elements.
const BIG: (usize, usize) = (4000, 2500);

/// Rows and columns: one million elements.
const MILLION: (usize, usize) = (1000, 1000);

/// The sizes of cases that run in several sizes.
const SIZES: [(&str, (usize, usize)); 4] = [
    ("16", (4, 4)),
    ("10k", (100, 100)),
    ("1M", MILLION),
    ("10M", BIG),
];

/// The sides of square matrices.
const SIDES: [usize; 5] = [4, 64, 256, 1024, 2048];

/// The libraries read these variables once, when they start their threads.
const THREADS: [&str; 2] = ["RAYON_NUM_THREADS", "MATMUL_NUM_THREADS"];

fn main() {
    let options = Options::read(&PEERS.map(|(name, _)| name));
    let threads = options.threads.to_string();
    if THREADS
        .iter()
        .any(|key| std::env::var(key).as_ref() != Ok(&threads))
    {
        std::process::exit(again(&threads));
    }
    for (name, cases) in PEERS {
        if options.peers.iter().any(|peer| peer == name) {
            if !(options.json || options.ask || options.values) {
                println!("\n{name}");
            }
            harness::run(&cases(), &options.of(name));
        }
    }
}

/// Starts this program again with the number of threads in its environment.
fn again(threads: &str) -> i32 {
    let program = std::env::current_exe().expect("this program has a path");
    let status = std::process::Command::new(program)
        .args(std::env::args().skip(1))
        .envs(THREADS.map(|key| (key, threads)))
        .status()
        .expect("this program starts again");
    status.code().unwrap_or(1)
}
