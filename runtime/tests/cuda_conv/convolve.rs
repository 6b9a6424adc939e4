//! Convolutions and their transposes.

use nomina_core::op::Op;
use nomina_core::{DType, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{ConvArgs, ConvSites, TransposedArgs, conv, conv_transpose};

use super::common::{NUMBERS, agree, apart, channels_last, convolved, numbers};
use crate::SCHEDULES;
use crate::here::{self, device};
use crate::sample::some;

const CONV: [Op; 3] = [Op::Conv1d, Op::Conv2d, Op::Conv3d];
const TRANSPOSE: [Op; 3] = [
    Op::ConvTranspose1d,
    Op::ConvTranspose2d,
    Op::ConvTranspose3d,
];

/// The parameters of a convolution; a case with fewer dims uses the last ones.
#[derive(Clone, Debug)]
pub struct Case {
    pub batch: usize,
    channels: usize,
    outs: usize,
    groups: usize,
    size: Vec<usize>,
    kernel: Vec<usize>,
    stride: Vec<usize>,
    pub padding: Option<Vec<usize>>,
    dilation: Vec<usize>,
    bias: bool,
}

impl Case {
    pub fn new(channels: usize, outs: usize, size: &[usize], kernel: &[usize]) -> Self {
        let same = |number| vec![number; size.len()];
        Self {
            batch: 2,
            channels,
            outs,
            groups: 1,
            size: size.into(),
            kernel: kernel.into(),
            stride: same(1),
            padding: Some(same(0)),
            dilation: same(1),
            bias: false,
        }
    }

    pub fn groups(mut self, groups: usize) -> Self {
        self.groups = groups;
        self
    }

    pub fn slides(mut self, stride: usize, padding: usize, dilation: usize) -> Self {
        // For the last dim; one less or more for the others.
        let rank = self.size.len();
        let near = |number: usize, least: usize| -> Vec<usize> {
            let each = (0..rank).map(|dim| number.saturating_sub(rank - 1 - dim).max(least));
            each.collect()
        };
        self.stride = near(stride, 1);
        self.padding = Some(near(padding, 0));
        self.dilation = near(dilation, 1);
        self
    }

    pub fn bias(mut self) -> Self {
        self.bias = true;
        self
    }

    fn weight(&self, dtype: DType, transposed: bool) -> Raw {
        let [first, second] = if transposed {
            [self.channels, self.outs / self.groups]
        } else {
            [self.outs, self.channels / self.groups]
        };
        numbers(&[&[first, second], &self.kernel[..]].concat(), dtype, 2)
    }

    fn input(&self, dtype: DType) -> Raw {
        numbers(
            &[&[self.batch, self.channels], &self.size[..]].concat(),
            dtype,
            1,
        )
    }

    pub fn operands(&self, dtype: DType, transposed: bool) -> Vec<Raw> {
        let mut all = vec![self.input(dtype), self.weight(dtype, transposed)];
        if self.bias {
            all.push(numbers(&[self.outs], dtype, 3));
        }
        all
    }

    /// Returns the convolution, or its transpose.
    pub fn call(&self, transposed: bool, all: &[Raw]) -> Result<Raw> {
        let rank = self.size.len();
        let spatial: Vec<usize> = (2..2 + rank).collect();
        let sites = ConvSites {
            channel: 1,
            spatial: &spatial,
            out: usize::from(transposed),
            weight_channel: usize::from(!transposed),
            kernel: &spatial,
        };
        let (x, w, bias) = (&all[0], &all[1], all.get(2));
        if transposed {
            let none = vec![0; rank];
            // The maximum that the stride allows, along the last dim.
            let mut more = none.clone();
            more[rank - 1] = self.stride[rank - 1].max(self.dilation[rank - 1]) - 1;
            let args = TransposedArgs {
                stride: &self.stride,
                padding: self.padding.as_deref().unwrap_or(&none),
                output_padding: &more,
                groups: self.groups,
                dilation: &self.dilation,
            };
            return conv_transpose(TRANSPOSE[rank - 1], x, w, bias, &sites, &args);
        }
        let args = ConvArgs {
            stride: &self.stride,
            padding: self.padding.as_deref(),
            dilation: &self.dilation,
            groups: self.groups,
        };
        conv(CONV[rank - 1], x, w, bias, &sites, &args)
    }

    /// Checks that both devices agree.
    pub fn check(&self, transposed: bool, operands: &[Raw]) -> usize {
        let operands: Vec<&Raw> = operands.iter().collect();
        let what = format!(
            "{:?} {self:?} transposed: {transposed}",
            operands[0].dtype()
        );
        agree(&what, &operands, convolved(operands[0].dtype()), |all| {
            Ok(vec![self.call(transposed, all)?])
        })
    }

    pub fn both(&self, dtype: DType) -> usize {
        [false, true]
            .map(|transposed| self.check(transposed, &self.operands(dtype, transposed)))
            .iter()
            .sum()
    }
}

/// Sizes and kernels for one to three dims.
pub const SIZES: [(&[usize], &[usize]); 3] =
    [(&[29], &[3]), (&[9, 11], &[3, 2]), (&[4, 5, 7], &[2, 2, 3])];

#[test]
fn strides_paddings_dilations_groups() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for (size, kernel) in SIZES {
        for (channels, outs, groups) in [(3, 5, 1), (16, 12, 1), (4, 4, 4), (4, 8, 4), (32, 40, 2)]
        {
            for (stride, padding, dilation) in [
                (1, 0, 1),
                (1, 1, 1),
                (2, 1, 1),
                (3, 0, 2),
                (1, 2, 2),
                (2, 1, 3),
                (3, 2, 1),
                (4, 1, 2),
            ] {
                // No window fits.
                if size[0] < 5 && dilation > 2 {
                    continue;
                }
                let case = Case::new(channels, outs, size, kernel).groups(groups);
                let case = case.slides(stride, padding, dilation);
                cases += case.both(DType::F32);
                cases += case.bias().both(DType::F32);
            }
        }
    }
    here::cases(cases);
}

#[test]
fn every_dtype() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for dtype in some(NUMBERS) {
        for (channels, outs, groups) in [(2, 3, 1), (16, 40, 1), (3, 3, 3)] {
            let case = Case::new(channels, outs, &[7, 9], &[3, 2]).groups(groups);
            let case = case.slides(2, 1, 1).bias();
            cases += case.both(dtype);
            let last = |transposed| {
                let mut all = case.operands(dtype, transposed);
                all[0] = channels_last(&all[0]);
                case.check(transposed, &all)
            };
            cases += last(false) + last(true);
        }
    }
    here::cases(cases);
}

#[test]
fn layouts() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for (size, kernel) in SIZES {
        for (channels, outs, groups) in [(3, 2, 1), (20, 24, 1), (24, 16, 2), (6, 6, 6)] {
            let case = Case::new(channels, outs, size, kernel).groups(groups);
            let case = case.slides(2, 1, 1);
            for transposed in [false, true] {
                let whole = case.operands(DType::F32, transposed);
                for x in [channels_last(&whole[0]), apart(&whole[0])] {
                    for w in [whole[1].clone(), apart(&whole[1])] {
                        cases += case.check(transposed, &[x.clone(), w]);
                    }
                }
            }
            // The sizes do not change.
            let mut same = case.clone();
            (same.stride, same.padding) = (vec![1; size.len()], None);
            cases += same.check(false, &same.operands(DType::F32, false));
        }
    }
    here::cases(cases);
}

#[test]
fn sizes_of_tiles() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    // Sizes around those of tiles, and depths that are split if there are few tiles; 16-bit floats use a different
    // kernel.
    for (dtype, channels) in [
        (DType::F32, 8),
        (DType::F32, 17),
        (DType::F32, 100),
        (DType::BF16, 8),
        (DType::BF16, 21),
        (DType::BF16, 104),
        (DType::F16, 36),
        (DType::F16, 40),
    ] {
        for outs in [8, 31, 33, 64, 65, 130] {
            let case = Case::new(channels, outs, &[7, 13], &[2, 3]).slides(1, 1, 2);
            cases += case.both(dtype);
            let mut all = case.operands(dtype, false);
            all[0] = channels_last(&all[0]);
            cases += case.check(false, &all);
            let groups = case.clone().groups(if outs % 2 == 0 && channels % 2 == 0 {
                2
            } else {
                1
            });
            let mut all = groups.operands(dtype, false);
            all[0] = channels_last(&all[0]);
            cases += groups.check(false, &all);
        }
    }
    // Enough work for the largest tile to keep a device busy, and columns after the last tile.
    let mut large = Case::new(8, 129, &[1030], &[2]);
    large.batch = 3;
    cases += large.both(DType::F32) + large.both(DType::BF16) + large.both(DType::F64);
    here::cases(cases);
}

#[test]
fn nothing_and_points() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for (channels, outs) in [(16, 16), (2, 3)] {
        let mut empty = Case::new(channels, outs, &[5, 5], &[3, 3]);
        empty.batch = 0;
        cases += empty.both(DType::F32);
        let point = Case::new(channels, outs, &[6, 5], &[1, 1]).bias();
        cases += point.both(DType::F32) + point.both(DType::F16);
        // A plain matrix product of the operands as they are.
        for dtype in some([DType::F32, DType::F64, DType::C64, DType::I32, DType::BF16]) {
            let mut point = Case::new(2 * channels, 2 * outs, &[6, 5], &[1, 1]);
            cases += point.both(dtype);
            point.groups = 2;
            let mut all = point.operands(dtype, false);
            cases += point.check(false, &all);
            all[0] = channels_last(&all[0]);
            cases += point.check(false, &all);
            all[0] = apart(&all[0]);
            cases += point.check(false, &all);
        }
        // A window as large as its operand.
        cases += Case::new(channels, outs, &[4, 3], &[4, 3]).both(DType::F32);
        let mut none = Case::new(channels, outs, &[5], &[2]).bias();
        none.channels = 0;
        cases += none.check(false, &none.operands(DType::F32, false));
    }
    here::cases(cases);
}

#[test]
fn numbers_of_64_bits() {
    let _here = device!(&SCHEDULES);
    let mut cases = 0;
    for (channels, outs, groups) in [(3, 2, 1), (16, 24, 1), (16, 32, 2)] {
        for dtype in some([DType::F32, DType::I64, DType::C128]) {
            let mut case = Case::new(channels, outs, &[5, 9], &[1, 3])
                .groups(groups)
                .bias();
            // One tap; the next one would be far away.
            case.dilation = vec![1 << 31, 2];
            case.stride = vec![2, 3];
            for transposed in [false, true] {
                let mut all = case.operands(dtype, transposed);
                let output = case.clone();
                cases += if transposed {
                    // Output padding must be less than the stride or less than the dilation.
                    output.check(transposed, &all)
                } else {
                    let first = output.check(transposed, &all);
                    all[0] = channels_last(&all[0]);
                    first + output.check(transposed, &all)
                };
            }
        }
    }
    here::cases(cases);
}
