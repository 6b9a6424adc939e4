//! Which part of a dim a rank has. A formula of sizes and ranks: no rank asks another.

/// The first index and the length of what rank `rank` of `ranks` has of `size`: the first `size % ranks` ranks have one more.
#[must_use]
pub fn part(size: usize, ranks: usize, rank: usize) -> (usize, usize) {
    let (each, more) = (size / ranks, size % ranks);
    (
        rank * each + rank.min(more),
        each + usize::from(rank < more),
    )
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_follow_each_other_and_are_all() {
        for size in [0, 1, 2, 3, 4, 5, 7, 8, 100] {
            for ranks in 1..=9 {
                let mut next = 0;
                for rank in 0..ranks {
                    let (start, len) = part(size, ranks, rank);
                    assert_eq!(start, next);
                    assert!(len.abs_diff(size / ranks) <= 1);
                    next = start + len;
                }
                assert_eq!(next, size);
            }
        }
        assert_eq!(part(usize::MAX, 2, 1), (usize::MAX / 2 + 1, usize::MAX / 2));
    }
}
