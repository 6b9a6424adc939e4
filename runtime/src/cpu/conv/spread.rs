//! Gathers whose indices are independent in each dim.

use crate::cpu::parallel::{GRAIN, split};
use crate::job::SpreadJob;
use crate::memory::NoMemory;
use crate::memory::scratch::push;

/// Contiguous runs that are shorter than this on average are copied element by element.
const RUN: usize = 4;

/// Copies the elements.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &SpreadJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller; elements are copied as bits of their size.
    unsafe {
        match job.element {
            1 => spread_as::<u8>(job),
            2 => spread_as::<u16>(job),
            4 => spread_as::<u32>(job),
            8 => spread_as::<u64>(job),
            _ => spread_as::<u128>(job),
        }
    }
}

/// A run of elements that is contiguous in the result and in the input.
struct Neighbours {
    to: usize,
    from: isize,
    len: usize,
}

fn neighbours(map: Option<&[isize]>, size: usize) -> Result<Vec<Neighbours>, NoMemory> {
    let mut found: Vec<Neighbours> = Vec::new();
    let Some(map) = map else {
        let all = Neighbours {
            to: 0,
            from: 0,
            len: size,
        };
        push(&mut found, all)?;
        return Ok(found);
    };
    for (to, &from) in map.iter().enumerate() {
        match found.last_mut() {
            Some(last) if from >= 0 && last.from >= 0 && from == last.from + last.len as isize => {
                last.len += 1;
            }
            Some(last) if from < 0 && last.from < 0 => last.len += 1,
            _ => push(&mut found, Neighbours { to, from, len: 1 })?,
        }
    }
    Ok(found)
}

unsafe fn spread_as<T: Copy + Send + Sync + 'static>(job: &SpreadJob<'_>) -> Result<(), NoMemory> {
    let rank = job.shape.len();
    // SAFETY: a constant has the size and alignment of the largest element.
    let value = unsafe { job.value.as_ptr().cast::<T>().read() };
    let Some(last) = rank.checked_sub(1) else {
        // SAFETY: a tensor without dims has one element.
        unsafe { job.out.cast::<T>().write(job.x.cast::<T>().read()) };
        return Ok(());
    };
    let (width, step) = (job.shape[last], job.x_strides[last]);
    let rows: usize = job.shape[..last].iter().product();
    let map = job.maps[last].as_deref();
    let runs = neighbours(map, width)?;
    let dense = step == 1 && runs.len() * RUN <= width.max(RUN);
    split(rows, GRAIN / width.max(1), &|range| {
        for row in range {
            let out = job.out.cast::<T>().wrapping_add(row * width);
            let mut rest = row;
            let mut offset = Some(0);
            for dim in (0..last).rev() {
                let index = rest % job.shape[dim];
                rest /= job.shape[dim];
                let from = match &job.maps[dim] {
                    Some(map) => map[index],
                    None => index as isize,
                };
                offset = offset
                    .filter(|_| from >= 0)
                    .map(|offset: isize| offset + from * job.x_strides[dim]);
            }
            let from = offset.map(|offset| job.x.cast::<T>().wrapping_offset(offset));
            // SAFETY: this task owns the row; indices are within the input, or -1.
            unsafe {
                match (from, map) {
                    (None, _) => fill(out, width, value),
                    (Some(from), Some(map)) if !dense => {
                        for (i, &at) in map.iter().enumerate() {
                            let x = if at < 0 {
                                value
                            } else {
                                from.wrapping_offset(at * step).read()
                            };
                            out.add(i).write(x);
                        }
                    }
                    (Some(from), None) if step != 1 => {
                        for i in 0..width {
                            out.add(i)
                                .write(from.wrapping_offset(i as isize * step).read());
                        }
                    }
                    (Some(from), _) => {
                        for run in &runs {
                            let to = out.add(run.to);
                            if run.from < 0 {
                                fill(to, run.len, value);
                            } else {
                                let from = from.wrapping_offset(run.from);
                                std::ptr::copy_nonoverlapping(from, to, run.len);
                            }
                        }
                    }
                }
            }
        }
    });
    Ok(())
}

unsafe fn fill<T: Copy>(to: *mut T, len: usize, value: T) {
    for i in 0..len {
        // SAFETY: guaranteed by the caller.
        unsafe { to.add(i).write(value) };
    }
}
