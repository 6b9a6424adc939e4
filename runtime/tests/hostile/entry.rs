//! Entries, and single calls of them.

use nomina_core::DType;
use nomina_runtime::with_default_dtype;

use super::super::bytes::Bytes;
use super::draw::{Draw, Lent, Own};
use super::see::See;

/// A function, and a way to call it once.
pub struct Call {
    /// Its module or type.
    pub of: &'static str,
    pub name: &'static str,
    pub run: for<'a, 'b> fn(&mut Draw<'a, 'b>) -> bool,
}

/// Defines `CALLS` from lines `function(argument, ...);` of a module or a type. An argument is `_`, a method of `Draw`,
/// or one with its own arguments. A line `function |d| { ... };` contains the call itself.
macro_rules! calls {
    ($of:ident: $($name:ident $(($($args:tt)*))? $(|$d:ident| $by_hand:block)?;)*) => {
        pub const CALLS: &[crate::hostile::entry::Call] = &[$(crate::hostile::entry::Call {
            of: stringify!($of),
            name: stringify!($name),
            run: calls!(@run $of $name $(($($args)*))? $(|$d| $by_hand)?),
        }),*];
    };
    (@run $of:ident $name:ident |$d:ident| $by_hand:block) => {
        |$d| crate::hostile::entry::seen($by_hand)
    };
    (@run $of:ident $name:ident ($($args:tt)*)) => {
        |d| crate::hostile::entry::seen(calls!(@call $of $name d () $($args)*))
    };
    (@call $of:ident $name:ident $d:ident ($($done:tt)*)) => {
        $of::$name($($done)*)
    };
    (@call $of:ident $name:ident $d:ident ($($done:tt)*) _ $(, $($rest:tt)*)?) => {
        calls!(@call $of $name $d ($($done)* crate::hostile::given::Given::given($d),) $($($rest)*)?)
    };
    (@call $of:ident $name:ident $d:ident ($($done:tt)*) $from:ident($($args:tt)*) $(, $($rest:tt)*)?) => {
        calls!(@call $of $name $d ($($done)* $d.$from($($args)*),) $($($rest)*)?)
    };
    (@call $of:ident $name:ident $d:ident ($($done:tt)*) $from:ident $(, $($rest:tt)*)?) => {
        calls!(@call $of $name $d ($($done)* $d.$from(),) $($($rest)*)?)
    };
}

/// Reads all of a result.
pub fn seen(result: impl See) -> bool {
    result.see()
}

/// Calls a function once, reads its result, and checks that it did not change its operands.
///
/// # Panics
/// If the function panics or does harm.
pub fn once(call: &Call, bytes: &mut Bytes<'_>) -> bool {
    let own = Own::default();
    let lent = Lent::default();
    let mut dest = None;
    let mut generator = None;
    let floats = [DType::F32, DType::F32, DType::F64, DType::F16, DType::BF16];
    let float = bytes.pick(&floats);
    let mut draw = Draw::new(bytes, &own, &lent, &mut dest, &mut generator);
    let ok = with_default_dtype(float, || (call.run)(&mut draw));
    own.check();
    if let Some(dest) = dest {
        dest.see();
    }
    ok
}
