/// Threads write what they have proven of positions whose tags have a half in common, in a bucket that has no place left,
/// so that each pushes another out. Whoever reads meanwhile finds what is proven of the position that it asks for, or
/// nothing.
pub(crate) fn model() {
    use shuttle::sync::Arc;

    /// More positions than a bucket has places.
    const POSITIONS: u128 = 6;
    /// Tags of which the upper half is that of one other, and the lower one that of a third.
    fn tag(position: u128) -> u128 {
        (position / 2) << 64 | (position % 2)
    }
    /// Far enough from each other that no bound holds of two positions.
    fn score(position: u128) -> i32 {
        i32::try_from(position).expect("a few") * 4 - 10
    }

    fn write(bucket: &VersionedBucket, position: u128) {
        bucket.remember(tag(position), score(position), score(position) - 1, 1);
        bucket.remember(tag(position), score(position), score(position), 1);
    }

    fn check(bucket: &VersionedBucket, position: u128) {
        let known = bucket.recall(tag(position));
        let is_true = known.lower <= score(position) && score(position) <= known.upper;
        assert!(is_true, "{known:?} of a score of {}", score(position));
    }

    let bucket = Arc::new(VersionedBucket::default());
    for position in 0..4 {
        write(&bucket, position);
    }
    let threads = [[4, 0], [5, 4], [1, 5]].map(|[written, asked]| {
        let bucket = Arc::clone(&bucket);
        shuttle::thread::spawn(move || {
            write(&bucket, written);
            check(&bucket, asked);
            check(&bucket, written);
        })
    });
    check(&bucket, 0);
    check(&bucket, 1);
    for thread in threads {
        thread.join().expect("no panic");
    }
    (0..POSITIONS).for_each(|position| check(&bucket, position));
}
