//! Random numbers drawn a second time.

use std::cell::RefCell;

use super::Generator;

/// The default generator as it was each time that a computation asked for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawn(Vec<Generator>);

/// What this thread does when the default generator is asked for.
enum Mode {
    Records(Drawn),
    Repeats(std::vec::IntoIter<Generator>),
}

thread_local! {
    static MODES: RefCell<Vec<Mode>> = const { RefCell::new(Vec::new()) };
}

/// Ends a mode, also after a panic.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        MODES.with_borrow_mut(Vec::pop);
    }
}

/// Calls `f`, and says what it drew.
pub(crate) fn recorded<R>(f: impl FnOnce() -> R) -> (R, Drawn) {
    MODES.with_borrow_mut(|modes| modes.push(Mode::Records(Drawn::default())));
    let ends = Ends;
    let result = f();
    let drawn = MODES.with_borrow_mut(|modes| match modes.last_mut() {
        Some(Mode::Records(drawn)) => std::mem::take(drawn),
        _ => Drawn::default(),
    });
    drop(ends);
    (result, drawn)
}

/// Calls `f`, which draws the same numbers as when `drawn` was recorded.
pub(crate) fn repeated<R>(drawn: &Drawn, f: impl FnOnce() -> R) -> R {
    let generators = drawn.0.clone().into_iter();
    MODES.with_borrow_mut(|modes| modes.push(Mode::Repeats(generators)));
    let _ends = Ends;
    f()
}

/// The generator to draw from in the place of the default one, if this thread repeats.
pub(super) fn instead() -> Option<Generator> {
    MODES.with_borrow_mut(|modes| {
        let found = modes.iter_mut().rev().find_map(|mode| match mode {
            Mode::Repeats(generators) => generators.next(),
            Mode::Records(_) => None,
        })?;
        note(modes, &found);
        Some(found)
    })
}

/// Notes the default generator, if this thread records.
pub(super) fn asked_for(generator: &Generator) {
    MODES.with_borrow_mut(|modes| note(modes, generator));
}

fn note(modes: &mut [Mode], generator: &Generator) {
    for mode in modes {
        if let Mode::Records(drawn) = mode {
            drawn.0.push(generator.clone());
        }
    }
}
