//! Boxes of row-major arrays: which parts of a stream are copied where.

use std::io;

use super::codec::Stream;

/// A box within a row-major array, and its destination.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArrayBox {
    /// The start of the box along each dim.
    pub(super) from: Vec<usize>,
    pub(super) size: Vec<usize>,
    /// The destination of the first element, and the strides of the destination, in elements.
    pub(super) to: usize,
    pub(super) strides: Vec<usize>,
}

/// Returns the strides of a row-major array.
pub(super) fn row_major(sizes: &[usize]) -> Vec<usize> {
    let strides = nomina_runtime::shape::row_major(sizes);
    strides.iter().map(|&stride| stride as usize).collect()
}

/// Returns the offset of an element.
fn offset(at: &[usize], strides: &[usize]) -> usize {
    at.iter().zip(strides).map(|(at, stride)| at * stride).sum()
}

/// Calls `f` with each index of a box in row-major order, until it fails.
fn each<E>(
    from: &[usize],
    size: &[usize],
    mut f: impl FnMut(&[usize]) -> Result<(), E>,
) -> Result<(), E> {
    if size.contains(&0) {
        return Ok(());
    }
    let mut at = from.to_vec();
    loop {
        f(&at)?;
        let Some(dim) = (0..at.len()).rfind(|&dim| at[dim] - from[dim] + 1 < size[dim]) else {
            return Ok(());
        };
        at[dim] += 1;
        at[dim + 1..].copy_from_slice(&from[dim + 1..]);
    }
}

impl ArrayBox {
    /// Creates the box that is all of an array of these sizes, with the destination at offset `to`.
    pub(super) fn whole(size: &[usize], to: usize, strides: Vec<usize>) -> Self {
        Self {
            from: vec![0; size.len()],
            size: size.to_vec(),
            to,
            strides,
        }
    }

    /// Returns the box of the array with permuted dims.
    pub(super) fn permuted(&self, order: &[usize]) -> Self {
        let pick = |of: &[usize]| order.iter().map(|&dim| of[dim]).collect();
        Self {
            from: pick(&self.from),
            size: pick(&self.size),
            to: self.to,
            strides: pick(&self.strides),
        }
    }

    /// Calls `f` with the index of each chunk that the box intersects, and with the part of the box in it.
    pub(super) fn each_chunk<E>(
        &self,
        chunk: &[usize],
        mut f: impl FnMut(&[usize], ArrayBox) -> Result<(), E>,
    ) -> Result<(), E> {
        let ends = self.from.iter().zip(&self.size);
        let ends: Vec<usize> = ends.map(|(from, size)| from + size).collect();
        let first = self.from.iter().zip(chunk).map(|(from, size)| from / size);
        let first: Vec<usize> = first.collect();
        let count = ends.iter().zip(chunk).zip(&first);
        let count: Vec<usize> = count
            .map(|((end, size), first)| end.div_ceil(*size).saturating_sub(*first))
            .collect();
        if self.size.contains(&0) {
            return Ok(());
        }
        each(&first, &count, |index| {
            // The products are within the array, so nothing overflows.
            let begins = index.iter().zip(chunk).map(|(index, size)| index * size);
            let begins: Vec<usize> = begins.collect();
            let mut part = ArrayBox::whole(&self.size, self.to, self.strides.clone());
            for dim in 0..chunk.len() {
                let from = self.from[dim].max(begins[dim]);
                part.from[dim] = from - begins[dim];
                part.size[dim] = (ends[dim] - from).min(chunk[dim] - part.from[dim]);
                part.to += (from - self.from[dim]) * self.strides[dim];
            }
            f(index, part)
        })
    }

    /// Calls `f` with the destination offset of each element.
    pub(super) fn each(&self, mut f: impl FnMut(usize)) {
        let zeros = vec![0; self.size.len()];
        let Ok(()) = each(&zeros, &self.size, |at| {
            f(self.to + offset(at, &self.strides));
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// Reads the box from a stream of an array of sizes `of`, with elements of `size` bytes.
    pub(super) fn read(
        &self,
        of: &[usize],
        size: usize,
        stream: &mut dyn Stream,
        out: &mut [u8],
    ) -> io::Result<()> {
        let (mut of, mut part) = (of.to_vec(), self.clone());
        part.merge(&mut of);
        let last = of.len() - 1;
        let strides = row_major(&of);
        let (run, step) = (part.size[last], part.strides[last]);
        let mut row = vec![0; if step == 1 { 0 } else { run.min(ROW) * size }];
        let mut done = 0;
        let (from, rows) = (&part.from[..last], &part.size[..last]);
        each(from, rows, |at| {
            let begin = offset(at, &strides) + part.from[last];
            stream.skip(((begin - done) * size) as u64)?;
            done = begin + run;
            let mut to = part.to + offset(at, &part.strides) - offset(from, &part.strides);
            if step == 1 {
                return stream.read_exact(&mut out[to * size..(to + run) * size]);
            }
            let mut left = run;
            while left > 0 {
                let some = left.min(ROW);
                let row = &mut row[..some * size];
                stream.read_exact(row)?;
                for element in row.chunks_exact(size) {
                    out[to * size..(to + 1) * size].copy_from_slice(element);
                    to += step;
                }
                left -= some;
            }
            Ok(())
        })
    }

    /// Merges adjacent dims if the box covers all of the inner one and the destination is contiguous there. At least
    /// one dim remains.
    fn merge(&mut self, of: &mut Vec<usize>) {
        if of.is_empty() {
            of.push(1);
            *self = Self {
                from: vec![0],
                size: vec![1],
                to: self.to,
                strides: vec![1],
            };
        }
        for dim in (1..of.len()).rev() {
            let inner = of[dim];
            let whole = self.from[dim] == 0 && self.size[dim] == inner;
            if whole && self.strides[dim - 1] == self.strides[dim] * inner {
                of[dim - 1] *= inner;
                self.from[dim - 1] *= inner;
                self.size[dim - 1] *= inner;
                self.strides[dim - 1] = self.strides[dim];
                of.remove(dim);
                self.from.remove(dim);
                self.size.remove(dim);
                self.strides.remove(dim);
            }
        }
    }
}

/// The number of elements read at once before they are scattered.
const ROW: usize = 1 << 12;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbered elements of two bytes.
    fn numbers(count: usize) -> Vec<u8> {
        (0..count as u16).flat_map(u16::to_le_bytes).collect()
    }

    fn read(part: &ArrayBox, of: &[usize], room: usize) -> Vec<u16> {
        let mut out = vec![0xff; room * 2];
        let all = numbers(of.iter().product());
        part.read(of, 2, &mut &all[..], &mut out).unwrap();
        let pairs = out.chunks_exact(2);
        pairs
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect()
    }

    #[test]
    fn a_box_goes_where_it_belongs() {
        const NONE: u16 = 0xffff;
        let part = |from: &[usize], size: &[usize], to, strides: &[usize]| ArrayBox {
            from: from.to_vec(),
            size: size.to_vec(),
            to,
            strides: strides.to_vec(),
        };
        let rows = part(&[1, 1], &[2, 2], 1, &[3, 1]);
        assert_eq!(read(&rows, &[3, 4], 6), [NONE, 5, 6, NONE, 9, 10]);
        let turned = part(&[1, 1], &[2, 2], 0, &[1, 2]);
        assert_eq!(read(&turned, &[3, 4], 4), [5, 9, 6, 10]);
        let whole = part(&[1, 0, 0], &[1, 2, 3], 0, &[6, 3, 1]);
        assert_eq!(read(&whole, &[2, 2, 3], 6), [6, 7, 8, 9, 10, 11]);
        let number = part(&[], &[], 1, &[]);
        assert_eq!(read(&number, &[], 2), [NONE, 0]);
        let none = part(&[1, 0], &[0, 2], 0, &[2, 1]);
        assert_eq!(read(&none, &[3, 2], 1), [NONE]);
        let long = part(&[0, 0], &[10_000, 1], 0, &[2, 1]);
        assert_eq!(read(&long, &[10_000, 2], 20_000)[19_998], 19_998);
    }

    #[test]
    fn chunks_are_those_that_a_box_meets() {
        let part = ArrayBox {
            from: vec![3, 0],
            size: vec![4, 5],
            to: 0,
            strides: row_major(&[4, 5]),
        };
        let mut seen = Vec::new();
        let all = part.each_chunk(&[4, 4], |index, part| {
            seen.push((index.to_vec(), part.from, part.size, part.to));
            Ok::<(), ()>(())
        });
        all.unwrap();
        let expected = [
            (vec![0, 0], vec![3, 0], vec![1, 4], 0),
            (vec![0, 1], vec![3, 0], vec![1, 1], 4),
            (vec![1, 0], vec![0, 0], vec![3, 4], 5),
            (vec![1, 1], vec![0, 0], vec![3, 1], 9),
        ];
        assert_eq!(seen, expected);
    }
}
