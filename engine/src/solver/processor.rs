//! What only the processor's own instructions can say: the one module with `unsafe`.
//!
//! Prefetching the places that a node's children have in the table takes a third off the time of a search (145 to 101
//! ns a node on begin-medium). Where there is no such instruction nothing happens, which is right as well: it only
//! makes memory come sooner. Miri has none either; `RUSTFLAGS='--cfg miri' cargo test -p fourfold-engine` tries
//! all of it without, on any toolchain.

/// Asks the processor to fetch what is at `place`, which has an effect on time only.
#[inline(always)]
pub(super) fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of every x86-64, and a prefetch neither reads nor writes as far as the program can
        // tell; the reference would even make a read valid.
        #[allow(unsafe_code, reason = "see the module")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place; // nothing to be had without an instruction of its own
}
