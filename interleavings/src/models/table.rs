/// Threads write what they have proven of positions that share a place, while others read: whoever reads finds nothing
/// that nobody has proven.
pub(crate) fn model() {
    use shuttle::sync::Arc;

    #[derive(Clone, Copy)]
    struct FewKeys;

    impl Geometry for FewKeys {
        fn mirror(self, key: u64) -> u64 {
            key
        }

        fn key_bits(self) -> u32 {
            4
        }
    }

    // Eight places for sixteen positions. Those of the same place are asked for.
    let table = Arc::new(BoundsTable::new(BoundsTable::BYTES_MIN, FewKeys.key_bits()));
    let place = |key: u64| table.place(FewKeys, &Node { mine: key, mask: 0 });
    let asked = place(1);
    let beside = (2..16).map(place).find(|other| other.bucket == asked.bucket).expect("two share a place");
    let write = |place: Place, bounds: &'static [(i32, i32)]| {
        let table = Arc::clone(&table);
        shuttle::thread::spawn(move || {
            for &(score, alpha) in bounds {
                table.remember(place, score, alpha, 1);
            }
        })
    };
    // The score is 5: two have found it to be above 2 and above 4, and one, of another position, says something else.
    let threads = [write(beside, &[(-9, -8)]), write(asked, &[(2, 1)]), write(asked, &[(4, 3), (5, 5)])];
    for thread in threads {
        thread.join().expect("no panic");
    }
    let known = table.recall(asked);
    assert!(known.lower <= 5 && known.upper >= 5, "{known:?} of a score of 5");
}
