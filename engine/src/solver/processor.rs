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

/// With which instructions a search is done. The answer is the same, and so are the nodes.
///
/// On x86-64 those of 2013 (Intel's Haswell, AMD's Excavator two years later) take a tenth off the time of a node:
/// it counts, shifts and finds bits all the time, and four directions of a line fit into one register. Beyond them
/// nothing is gained: AVX-512 costs as much as it saves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instructions {
    /// Those that every processor of the kind has.
    Common,
    /// Those of the feature flags `avx2`, `bmi1`, `bmi2`, `lzcnt` and `popcnt`.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

/// There is one only where the processor has the instructions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

/// Calls what is compiled for [`Instructions::Avx2`], for whoever has the proof that the processor has them.
#[cfg(target_arch = "x86_64")]
macro_rules! by_avx2 {
    ($proof:expr, $call:expr) => {{
        let _: $crate::solver::processor::Avx2 = $proof;
        // SAFETY: there is a proof only where the processor has the instructions that the function is compiled for.
        #[allow(unsafe_code, reason = "the compiler does not know what the proof says")]
        unsafe {
            $call
        }
    }};
}
#[cfg(target_arch = "x86_64")]
pub(super) use by_avx2;

impl Instructions {
    /// The best that this processor has. It is asked once in the life of the program.
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return Self::Avx2(Avx2(()));
        }
        Self::Common
    }
}
