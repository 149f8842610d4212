//! Panics on this thread: a daemon gets over most of them, but none is to happen.

use std::cell::RefCell;

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// From now on panics are kept in mind, besides being printed.
pub(crate) fn keep_in_mind() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.with_borrow_mut(|panics| panics.push(panic.to_string()));
        print(panic);
    }));
}

pub(crate) fn forget() {
    PANICS.set(Vec::new());
}

pub(crate) fn all() -> Vec<String> {
    PANICS.with_borrow(Clone::clone)
}
