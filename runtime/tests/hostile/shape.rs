//! New tensors, and the same elements in other positions.

use nomina_core::DType;
use nomina_runtime::Device;

use super::draw::Draw;
use super::given::Given;
use super::make;
use nomina_runtime::call;

calls! { call:
    contiguous(_);
    duplicate(_);
    to_dtype(_, _);
    strides_like(_, _, _);
    contiguous_in(_, _);
    clone_in(_, _);
    to_in(_, _, _);
    copy_into(_, alike());
    copy_across(_, alike());
    fill(_, _);
    to_device(_, _);
    same_device(_, tensors());
    fits_device(_, _, _);
    full(sizes(), _, _, _);
    arange(_, _, _, _, _);
    frequencies |d| {
        let target = (d.dtype, Device::Cpu);
        let spacing = [1.0, 0.0, f64::NAN, 1e-300][d.bytes.below(4)];
        call::frequencies("fftfreq", make::size(d.bytes), spacing, d.bytes.once_in(2), target)
    };
    integers |d| {
        let data = vec![[7, i64::MAX as u64 + 1][d.bytes.below(2)]; make::size(d.bytes) % 100];
        call::integers(&data).is_ok()
    };
    eye(size(), size(), _, _);
    resize(_, sizes());
    as_real(_);
    real(_);
    imag(_);
    as_complex(_);
    join_parts(_, parts(), parts());
    diagonal_matrix(_, _, _, _, _);
    triangle(_, _, _, _);
    triangle_in_place(_, _, _, _);
    triangle_indices(_, two_sizes(), _, _, _, _);
    flip(_, _);
    roll(_, _, _);
    repeat(_, _, repeats());
    interleave(_, _, _, size());
    windows(_, _, size(), size());
    repeated_places(_, index(), size());
    linspace(_, _, size(), _, _);
    logspace(_, _, size(), _, _, _);
    window(_, _, size(), _, _, _);
    chunks(_, size(), _);
    sections(_, size(), _);
    cuts(size(), integers());
}

impl<'a> Draw<'a, '_> {
    fn two_sizes(&mut self) -> (usize, usize) {
        (self.size(), self.size())
    }

    fn repeats(&mut self) -> &'a [usize] {
        let count = self.base.len() + usize::from(self.bytes.once_in(4));
        let small = (0..count).map(|_| self.bytes.below(3)).collect();
        if self.bytes.once_in(4) {
            return self.numbers(count);
        }
        self.own.sizes.lend(small)
    }

    fn parts(&mut self) -> &'a nomina_runtime::Raw {
        if !self.dtype.is_float() {
            self.dtype = DType::F64;
        }
        Given::given(self)
    }
}
