//! Inputs for the macros, and the checks of their output.
//!
//! A proc-macro crate cannot be called from outside, so its modules are compiled again here, where `proc_macro2` falls
//! back to its own tokens.

extern crate proc_macro;

#[path = "../../macros/src"]
pub mod macros {
    // Only the crate's `lib.rs`, which rustc calls, uses some of it.
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

/// The stack that macros approximately get in rustc, whose main thread has 8 MiB.
const STACK: usize = 8 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that waits for jobs and reports when one is done.
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

/// Runs `job` on a stack of rustc's size, since libFuzzer's may be larger.
pub fn on_small_stack(job: impl FnOnce() + Send + 'static) {
    let worker = WORKER.lock().expect("a panic ends the process");
    worker.0.send(Box::new(job)).expect("the thread lives");
    worker.1.recv().expect("the thread lives");
}

/// Calls a macro as its `macro_rules!` wrapper does; the output must be an expression.
pub fn expression(of: fn(TokenStream) -> TokenStream, code: &str) {
    called(code, move |code, tokens| {
        let out = of(tokens);
        let text = out.to_string();
        assert!(syn::parse2::<syn::Expr>(out).is_ok(), "{code}\n{text}");
    });
}

/// Like [`expression`], but for a macro that generates items.
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
        // Invalid tokens never reach a macro.
        if let Ok(tokens) = code.parse() {
            job(&code, tokens);
        }
    });
}
