#![no_main]

use libfuzzer_sys::fuzz_target;
use nomina_fuzz::{Fragments, macros, on_small_stack, text};
use proc_macro2::TokenStream;

const OWN: Fragments = &[
    "let Q =",
    "let P =",
    "Q",
    "P",
    "D",
    "E",
    "C",
    "Without<",
    "Sum<",
    "Sum<Q, Q>",
    "Transposed<",
    "Renamed<",
    "Linear<",
    "Contracted<",
    "dims::Without<D, C>",
    "Keep<C>",
    ">",
    ">",
    ",",
    ",",
    "D: Has<C>",
    "Q: AlignInto<D>",
    "let Q = Sum<D, E>,",
    "let P = Without<Q, C>,",
    "Tensor<",
    "&Tensor<D, T>",
    "(H, W)",
    "\n",
    "fn f<D, E, T>(x: &Tensor<D>) -> Tensor<",
    "fn f<D>(",
    "pub",
    "const",
    "x: Tensor<Q>",
    ") -> Tensor<Q>",
    "where",
    "{ x }",
    ";",
    "Q::RANK",
    "<Q as Dims>::A",
    "impl Fn(Q) -> P",
    "[Q; 3]",
    "'a Q",
    "a.Q",
    "#[allow(x)]",
    "Distinct",
    "<T: Into<Q>>",
];

// The attribute's arguments on one line, the item on the next.
fuzz_target!(|data: &[u8]| {
    let code = text(data, OWN);
    on_small_stack(move || {
        let (written, item) = code
            .split_once('\n')
            .unwrap_or((&code, "fn f<D>(x: &Tensor<D>) {}"));
        if let (Ok(written), Ok(item)) = (written.parse(), item.parse::<TokenStream>()) {
            let read = syn::parse2::<syn::ItemFn>(item.clone()).is_ok();
            let out = macros::relations::relations(written, item);
            // An item that is not a function is emitted unchanged, after the error.
            assert!(
                !read || syn::parse2::<syn::File>(out.clone()).is_ok(),
                "{code}\n{out}"
            );
        }
    });
});
