//! Entries, and one call of one.

use super::super::bytes::Bytes;
use super::draw::{Draw, Lent, Own};
use super::see::See;

/// A function, and how it is called once. True where it gave a result.
pub struct Call {
    pub name: &'static str,
    pub run: for<'a, 'b> fn(&mut Draw<'a, 'b>) -> bool,
}

/// Makes `CALLS` of lines `function(argument, ...);`. An argument is `_`, a method of `Draw`, or one with arguments
/// of its own.
macro_rules! calls {
    ($($name:ident($($args:tt)*);)*) => {
        pub const CALLS: &[super::entry::Call] = &[$(super::entry::Call {
            name: stringify!($name),
            run: |d| {
                let result = calls!(@call $name d () $($args)*);
                super::entry::seen(result)
            },
        }),*];
    };
    (@call $name:ident $d:ident ($($done:tt)*)) => {
        nomina_runtime::call::$name($($done)*)
    };
    (@call $name:ident $d:ident ($($done:tt)*) _ $(, $($rest:tt)*)?) => {
        calls!(@call $name $d ($($done)* super::given::Given::given($d),) $($($rest)*)?)
    };
    (@call $name:ident $d:ident ($($done:tt)*) $from:ident($($args:tt)*) $(, $($rest:tt)*)?) => {
        calls!(@call $name $d ($($done)* $d.$from($($args)*),) $($($rest)*)?)
    };
    (@call $name:ident $d:ident ($($done:tt)*) $from:ident $(, $($rest:tt)*)?) => {
        calls!(@call $name $d ($($done)* $d.$from(),) $($($rest)*)?)
    };
}

/// Reads all of a result.
pub fn seen(result: impl See) -> bool {
    result.see()
}

/// Calls a function once, reads its result, and looks whether it changed what it should only read.
///
/// # Panics
/// When the function does, or did harm.
pub fn once(call: &Call, bytes: &mut Bytes<'_>) -> bool {
    let own = Own::default();
    let lent = Lent::default();
    let mut dest = None;
    let mut generator = None;
    let ok = (call.run)(&mut Draw::new(
        bytes,
        &own,
        &lent,
        &mut dest,
        &mut generator,
    ));
    own.check();
    if let Some(dest) = dest {
        dest.see();
    }
    ok
}
