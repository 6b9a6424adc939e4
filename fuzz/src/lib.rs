//! Inputs for the macros, and what must hold of whatever comes out.
//!
//! A proc-macro crate cannot be called from outside, so its modules are compiled once more; there `proc_macro2`
//! falls back to its own tokens.

extern crate proc_macro;

#[path = "../../macros/src"]
pub mod macros {
    // What only rustc calls stands in `lib.rs`.
    #![allow(dead_code)]
    pub mod depth;
    pub mod dims;
    pub mod einsum;
    pub mod errors;
    pub mod crate_path;
    pub mod fuse;
    pub mod list;
    pub mod names;
    pub mod relations;
    pub mod spelling;
    pub mod tensor;
}
pub use macros::{depth, errors, crate_path, list, spelling};

mod allocator;
mod text;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex};

use proc_macro2::TokenStream;
pub use text::{Fragments, text};

/// What rustc leaves a macro, about: its main thread has 8 MiB.
const STACK: usize = 8 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that waits for jobs, and says when one is done.
static WORKER: LazyLock<Mutex<(Sender<Job>, Receiver<()>)>> = LazyLock::new(|| {
    let (jobs, taken) = channel::<Job>();
    let (end, ended) = channel();
    let thread = std::thread::Builder::new().stack_size(STACK);
    let work = move || {
        for job in taken {
            job();
            end.send(()).expect("somebody waits");
        }
    };
    thread.spawn(work).expect("a thread");
    Mutex::new((jobs, ended))
});

/// Runs `job` on a stack of rustc's size: the one of libFuzzer may be larger.
pub fn on_small_stack(job: impl FnOnce() + Send + 'static) {
    let worker = WORKER.lock().expect("a panic ends the process");
    worker.0.send(Box::new(job)).expect("the thread lives");
    worker.1.recv().expect("the thread lives");
}

/// Calls a macro as its `macro_rules!` wrapper does; what comes out is an expression.
pub fn expression(of: fn(TokenStream) -> TokenStream, code: &str) {
    called(code, move |code, tokens| {
        let out = of(tokens);
        let text = out.to_string();
        assert!(syn::parse2::<syn::Expr>(out).is_ok(), "{code}\n{text}");
    });
}

/// As [`expression`], of a macro that makes items.
pub fn items(of: fn(TokenStream) -> TokenStream, code: &str) {
    called(code, move |code, tokens| {
        let out = of(tokens);
        let text = out.to_string();
        assert!(syn::parse2::<syn::File>(out).is_ok(), "{code}\n{text}");
    });
}

fn called(code: &str, job: impl FnOnce(&str, TokenStream) + Send + 'static) {
    let code = format!("(::nomina) {code}");
    on_small_stack(move || {
        // What is no token never comes to a macro.
        if let Ok(tokens) = code.parse() {
            job(&code, tokens);
        }
    });
}
