/// Threads write what they have proven of positions that share a place, while others read: whoever reads finds nothing
/// that nobody has proven.
pub(crate) fn model() {
    use shuttle::sync::Arc;

    const ASKED: u64 = 1;
    const BESIDE: u64 = 2;

    let bucket = Arc::new(PlainBucket::default());
    let write = |tag: u64, bounds: &'static [(i32, i32)]| {
        let bucket = Arc::clone(&bucket);
        shuttle::thread::spawn(move || {
            for &(score, alpha) in bounds {
                bucket.remember(tag, score, alpha, 1);
            }
        })
    };
    // The score is 5: two have found it to be above 2 and above 4, and one, of another position, says something else.
    let threads = [write(BESIDE, &[(-9, -8)]), write(ASKED, &[(2, 1)]), write(ASKED, &[(4, 3), (5, 5)])];
    for thread in threads {
        thread.join().expect("no panic");
    }
    let known = bucket.recall(ASKED);
    assert!(known.lower <= 5 && known.upper >= 5, "{known:?} of a score of 5");
}
