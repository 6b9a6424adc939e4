//! Windows that slide along dims.

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{
    self, AvgArgs, Columns, ConvArgs, ConvSites, ConvWeight, MaxArgs, PadPair, PreparedWeight,
    Resize, TransposedArgs,
};

use super::draw::Draw;
use super::given::Given;
use super::make;

calls! { call:
    conv(op(&[Op::Conv1d, Op::Conv2d, Op::Conv3d]), image(), weight(), _, sites(), conv_args());
    conv_then(op(&[Op::Conv1d, Op::Conv2d, Op::Conv3d]), image(), conv_weight(), _, sites(), conv_args(), _);
    conv_transpose(op(&[Op::ConvTranspose2d]), image(), weight(), _, sites(), transposed_args());
    max_pool(op(&[Op::MaxPool2d]), image(), spatial(), max_args(), _);
    avg_pool(op(&[Op::AvgPool2d]), image(), spatial(), avg_args());
    adaptive_avg(op(&[Op::AdaptiveAvgPool2d]), image(), spatial(), each(2, 2));
    adaptive_max(op(&[Op::AdaptiveMaxPool2d]), image(), spatial(), each(2, 2), _);
    max_unpool(op(&[Op::MaxUnpool2d]), image(), index(), spatial(), each(3, 2));
    im2col(image(), columns());
    fold(columns_of_image(), folded(), columns_of_two());
    pad(op(&[Op::Pad]), _, _, pad_pairs(), _, _);
    interpolate(_, resizes(), _, _);
    interpolate_antialias(_, resizes(), _);
}

impl<'a> Draw<'a, '_> {
    /// Returns a batch of channels with a few spatial dims, mostly two.
    fn image(&mut self) -> &'a Raw {
        if self.bytes.below(2) == 0 {
            self.dtype = DType::F32;
        }
        let spatial = self.bytes.pick(&[1, 2, 2, 2, 2, 3]);
        self.base = [1 + self.bytes.below(2), 2]
            .into_iter()
            .chain((0..spatial).map(|_| 2 + self.bytes.below(5)))
            .collect();
        self.x()
    }

    fn sliding(&self) -> usize {
        self.base.len().saturating_sub(2)
    }

    fn weight(&mut self) -> &'a Raw {
        let inner = self.bytes.pick(&[1, 2, 2]);
        let sizes: Vec<usize> = [2, inner]
            .into_iter()
            .chain((0..self.sliding()).map(|_| self.bytes.below(4)))
            .collect();
        self.of(&sizes)
    }

    fn conv_weight(&mut self) -> ConvWeight<'a> {
        let weight = self.weight();
        if self.bytes.below(2) == 0 {
            return ConvWeight::Once(weight);
        }
        let prepared = PreparedWeight::new(weight.clone());
        ConvWeight::Prepared(self.lent.weights.lend(prepared))
    }

    fn spatial(&mut self) -> &'a [usize] {
        if self.bytes.once_in(8) {
            return self.dims();
        }
        self.own.sizes.lend((2..self.base.len()).collect())
    }

    fn sites(&mut self) -> &'a ConvSites<'a> {
        let sites = if self.bytes.once_in(6) {
            ConvSites {
                channel: self.dim(),
                spatial: self.spatial(),
                out: self.dim(),
                weight_channel: self.dim(),
                kernel: self.dims(),
            }
        } else {
            ConvSites {
                channel: 1,
                spatial: self.spatial(),
                out: 0,
                weight_channel: 1,
                kernel: self.own.sizes.lend((2..self.base.len()).collect()),
            }
        };
        self.lent.sites.lend(sites)
    }

    fn conv_args(&mut self) -> &'a ConvArgs<'a> {
        let count = self.sliding();
        let args = ConvArgs {
            stride: self.each(1, count),
            padding: (self.bytes.below(4) > 0).then(|| self.each(1, count)),
            dilation: self.each(1, count),
            groups: if self.bytes.once_in(4) {
                self.size()
            } else {
                1
            },
        };
        self.lent.conv.lend(args)
    }

    fn transposed_args(&mut self) -> &'a TransposedArgs<'a> {
        let count = self.sliding();
        let args = TransposedArgs {
            stride: self.each(2, count),
            padding: self.each(0, count),
            output_padding: self.each(0, count),
            groups: if self.bytes.once_in(4) {
                self.size()
            } else {
                1
            },
            dilation: self.each(1, count),
        };
        self.lent.transposed.lend(args)
    }

    fn max_args(&mut self) -> &'a MaxArgs<'a> {
        let count = self.sliding();
        let args = MaxArgs {
            kernel: self.each(2, count),
            stride: self.each(1, count),
            padding: self.each(0, count),
            dilation: self.each(1, count),
            ceil_mode: Given::given(self),
        };
        self.lent.max.lend(args)
    }

    fn avg_args(&mut self) -> &'a AvgArgs<'a> {
        let count = self.sliding();
        let args = AvgArgs {
            kernel: self.each(2, count),
            stride: self.each(1, count),
            padding: self.each(0, count),
            ceil_mode: Given::given(self),
            count_include_pad: Given::given(self),
            divisor_override: Given::given(self),
        };
        self.lent.avg.lend(args)
    }

    fn columns(&mut self) -> &'a Columns<'a> {
        let args = Columns {
            kernel: self.each(2, 2),
            dilation: self.each(1, 2),
            padding: self.each(0, 2),
            stride: self.each(1, 2),
        };
        self.lent.columns.lend(args)
    }

    /// Returns columns of a two by two window.
    fn columns_of_image(&mut self) -> &'a Raw {
        self.base = vec![2, 3];
        self.of(&[2, 8, 6])
    }

    fn folded(&mut self) -> &'a [usize] {
        if self.bytes.once_in(4) {
            return self.numbers(2);
        }
        self.own.sizes.lend(vec![3, 4])
    }

    fn columns_of_two(&mut self) -> &'a Columns<'a> {
        if self.bytes.once_in(4) {
            return self.columns();
        }
        let two = |number| &self.own.sizes.lend(vec![number; 2])[..];
        self.lent.columns.lend(Columns {
            kernel: two(2),
            dilation: two(1),
            padding: two(0),
            stride: two(1),
        })
    }

    fn pad_pairs(&mut self) -> &'a [PadPair] {
        let list = (0..self.bytes.below(self.base.len() + 2))
            .map(|_| (make::whole(self.bytes), make::whole(self.bytes)))
            .collect();
        self.own.pairs.lend(list)
    }

    fn resizes(&mut self) -> &'a [Resize] {
        let list = (0..self.bytes.below(4))
            .map(|at| Resize {
                dim: if self.bytes.once_in(8) {
                    self.dim()
                } else {
                    at + 2
                },
                size: self.size(),
                factor: Given::given(self),
            })
            .collect();
        self.own.resizes.lend(list)
    }
}
