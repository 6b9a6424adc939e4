//! How lines are shared out among threads.

use super::*;

fn walk(shape: &[usize], strides: &[isize], marked: &[bool]) -> LineDims<2> {
    let out = vec![0; shape.len()];
    LineDims::new(shape, marked, [(strides, 4), (&out, 1)], false)
}

fn choice(walk: &LineDims<2>) -> Choice<2> {
    Choice::new(walk, 512 as *const u8, DType::F32, 4, &[]).unwrap()
}

#[test]
fn rows_and_columns_in_packs_where_they_are_aligned() {
    let last = choice(&walk(&[64, 1000], &[1000, 1], &[false, true]));
    assert!(last.rows && last.pack == 4 && last.chunks == 1);
    let first = choice(&walk(&[1000, 64], &[64, 1], &[true, false]));
    assert!(!first.rows && first.pack == 4);
    let odd = choice(&walk(&[1000, 63], &[63, 1], &[true, false]));
    assert!(!odd.rows && odd.pack == 1);
    let pairs = choice(&walk(&[1000, 4, 2], &[8, 2, 1], &[false, true, false]));
    assert!(!pairs.rows && pairs.pack == PAIR);
    let long = choice(&walk(&[3, 100_001], &[100_001, 1], &[false, true]));
    assert!(long.rows && long.pack == 4 && long.chunks > 1);
    let short = choice(&walk(&[300, 33], &[33, 1], &[false, true]));
    assert!(short.rows && short.pack == 1);
}

#[test]
fn a_warp_takes_a_line_where_states_are_dear() {
    let rows = walk(&[4000, 2500], &[2500, 1], &[false, true]);
    let threads = |state| {
        let choice = Choice::new(&rows, 512 as *const u8, DType::F32, state, &[]).unwrap();
        (choice.grid.threads, choice.chunks)
    };
    assert_eq!(threads(4), ([64, 1, 1], 1));
    assert_eq!(threads(24), ([32, 8, 1], 1));
}

#[test]
fn chunks_cover_a_line() {
    for count in [1, 7, 300_000, 1 << 20] {
        for chunks in [1, 2, 36, 5000] {
            let (chunk, found) = cut(count, chunks, 4);
            assert!(chunk % 4 == 0 && chunk * found >= count && chunk * (found - 1) < count);
        }
    }
}

#[test]
fn a_line_that_its_kernel_merges_has_whole_blocks() {
    for count in [1, 2100, 4100, 8200, 100_001, 10_000_000] {
        let all = choice(&walk(&[count], &[1], &[true]));
        assert!(all.ends_itself(4) && !all.ends_itself(8));
        assert!(
            all.chunks == 1 || all.grid.threads == [BLOCK as u32, 1, 1],
            "{count}"
        );
    }
}

#[test]
fn nothing_is_one_line_without_elements() {
    let none = walk(&[5, 0], &[1, 1], &[false, true]);
    assert_eq!((none.outputs, none.count), (5, 0));
    assert_eq!(choice(&none).chunks, 1);
}
