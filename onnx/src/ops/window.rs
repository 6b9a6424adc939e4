//! Windows that slide over the dims after batch and channels.

use nomina_core::Result;

use crate::call::Call;

/// The window of a convolution or pool, one number per spatial dim.
#[derive(Clone, Debug)]
pub struct Window {
    pub kernel: Vec<usize>,
    pub stride: Vec<usize>,
    pub dilation: Vec<usize>,
    pub before: Vec<i64>,
    pub after: Vec<i64>,
    pub ceil: bool,
}

/// A positive attribute with one number per spatial dim.
fn numbers(c: &Call<'_>, name: &str, count: usize) -> Result<Vec<usize>> {
    let Some(all) = c.ints(name)? else {
        return Ok(vec![1; count]);
    };
    let positive = |n: i64| usize::try_from(n).ok().filter(|&n| n > 0 && n < 1 << 31);
    let all: Option<Vec<_>> = all.into_iter().map(positive).collect();
    let all = all.filter(|all| all.len() == count);
    all.ok_or_else(|| {
        c.fail(format!(
            "`{name}` is not one positive number per spatial dim"
        ))
    })
}

impl Window {
    /// Returns a window over one dim as one over two dims, of which the first has a single element.
    pub fn of_line(mut self) -> Self {
        for numbers in [&mut self.kernel, &mut self.stride, &mut self.dilation] {
            numbers.insert(0, 1);
        }
        for counts in [&mut self.before, &mut self.after] {
            counts.insert(0, 0);
        }
        self
    }

    /// Reads the attributes of a window over `sizes`.
    pub fn new(c: &Call<'_>, sizes: &[usize], kernel: Option<&[usize]>) -> Result<Self> {
        let count = sizes.len();
        let kernel = match kernel {
            Some(kernel) => kernel.to_vec(),
            None => {
                c.require(
                    c.node.attribute("kernel_shape").is_some(),
                    "`kernel_shape` is missing",
                )?;
                numbers(c, "kernel_shape", count)?
            }
        };
        c.require(
            kernel.len() == count && !kernel.contains(&0),
            "the kernel has not the dims of the input",
        )?;
        let (stride, dilation) = (
            numbers(c, "strides", count)?,
            numbers(c, "dilations", count)?,
        );
        let mut window = Self {
            kernel,
            stride,
            dilation,
            before: vec![0; count],
            after: vec![0; count],
            ceil: c.flag("ceil_mode", false)?,
        };
        match c.text("auto_pad", "NOTSET")? {
            "NOTSET" => {
                if let Some(pads) = c.ints("pads")? {
                    c.require(
                        pads.len() == 2 * count && pads.iter().all(|p| (0..1 << 31).contains(p)),
                        "`pads` are not two numbers per spatial dim",
                    )?;
                    window.before.copy_from_slice(&pads[..count]);
                    window.after.copy_from_slice(&pads[count..]);
                }
            }
            "VALID" => {}
            mode @ ("SAME_UPPER" | "SAME_LOWER") => {
                for (dim, &size) in sizes.iter().enumerate().take(count) {
                    let out = size.div_ceil(window.stride[dim]);
                    let needed = out.saturating_sub(1) * window.stride[dim] + window.span(dim);
                    let total = needed.saturating_sub(size) as i64;
                    let (small, large) = (total / 2, total - total / 2);
                    (window.before[dim], window.after[dim]) = if mode == "SAME_UPPER" {
                        (small, large)
                    } else {
                        (large, small)
                    };
                }
            }
            other => return Err(c.fail(format!("`auto_pad` {other} is unknown"))),
        }
        Ok(window)
    }

    /// The number of elements that the window covers along a dim.
    pub fn span(&self, dim: usize) -> usize {
        (self.kernel[dim] - 1) * self.dilation[dim] + 1
    }

    /// The number of positions along each dim.
    pub fn positions(&self, c: &Call<'_>, sizes: &[usize]) -> Result<Vec<usize>> {
        let position = |dim: usize| {
            let free =
                sizes[dim] as i64 + self.before[dim] + self.after[dim] - self.span(dim) as i64;
            c.require(free >= 0, "the window is larger than the input")?;
            let (free, stride) = (free as usize, self.stride[dim]);
            let count = if self.ceil {
                free.div_ceil(stride)
            } else {
                free / stride
            } + 1;
            // A window that begins in the padding at the end does not count.
            let outside =
                self.ceil && (count - 1) * stride >= sizes[dim] + self.before[dim] as usize;
            Ok(count - usize::from(outside))
        };
        (0..sizes.len()).map(position).collect()
    }

    /// Whether both ends of each dim have the same padding.
    pub fn is_symmetric(&self) -> bool {
        self.before == self.after
    }

    /// The padding of each dim as an array for kernels.
    pub fn padding<const S: usize>(&self) -> [usize; S] {
        std::array::from_fn(|dim| self.before[dim] as usize)
    }
}

/// The numbers of `all` as an array.
pub fn array<const S: usize>(all: &[usize]) -> [usize; S] {
    std::array::from_fn(|dim| all[dim])
}

/// Calls a method for one, two or three spatial dims.
macro_rules! by_dims {
    ($c:expr, $count:expr, $one:expr, $two:expr, $three:expr) => {
        match $count {
            1 => $one,
            2 => $two,
            3 => $three,
            n => Err($c.fail(format!("{n} spatial dims are not supported"))),
        }
    };
}
pub(super) use by_dims;
