//! The derivative of a row.
//!
//! # The language of the lines
//!
//! A line is an expression in Rust's grammar for the gradient with respect to one parameter. `derivatives.txt` lists the
//! lines below the name of their row. `core/tests/generate/grad.rs` parses and checks them; `tests/gradcheck.rs`
//! compares their results.
//!
//! | word | meaning |
//! |---|---|
//! | a parameter of the signature | the operand as recorded, or the argument, with names as positions |
//! | `grad`, `result` | for the first output |
//! | `grads.1`, `results.1` | for another output |
//! | `+ - * /`, unary `-` | on tensors and numbers; `-` also on a list of sizes |
//! | `f(a, ..)` | a row by name, with arguments in the order of its signature or by keyword |
//! | `where_cond(c, a, b)` | the row `where`; elements not chosen must be finite, since their gradient is zero times their slope |
//! | `if_real(a, b)` | the whole line: `a` for real numbers, `b` if one is complex |
//! | `spread(t)` | a reduced tensor, broadcast over the first operand without a copy, with `keepdim` or without |
//! | `count` | the number of elements of the operand per element of the result |
//! | `sizes(t)` | the sizes |
//! | `i` | the imaginary unit |
//! | `rule::f(..)` | a function of recorded operators, see the table below |
//! | `zero` | the whole line: no gradient |
//! | `never("why")` | the whole line: no derivative with respect to this operand |
//!
//! For a list of tensors a line gives a list of gradients.
//!
//! Every line ends in one implicit step: broadcasting is undone by a sum to the operand's sizes, the real part is taken
//! if the operand is real, and dtype and device are converted to the operand's.
//!
//! For a real loss *L* the gradient of a complex operand is ∂*L*/∂a + i ∂*L*/∂b, as in PyTorch: a line conjugates the
//! factors of `grad`, and `conj` of a real tensor is the tensor itself.
//!
//! An omitted parameter has its default; an omitted `min` or `max` of `clamp` is infinite.
//!
//! Lines of 16-bit floats are computed in `f32`, with `result` recomputed, and rounded once; second derivatives too.
//!
//! # Rules
//!
//! A rule is called with the arguments shown and also receives the row's arguments (dims, sizes, words, numbers). *k*
//! is the index, from 0, of the tensor argument whose gradient is computed. *g* is `grad`, *x* the first operand, *y*
//! the result, H the conjugate transpose.
//!
//! | rule | result |
//! |---|---|
//! | `prod(grad, self, result)` | *g* times the product of the other elements: `spread(g * conj(y)) / conj(x)` if no factor is zero; with one zero, only it gets the product of the rest; with more, zero |
//! | `cumprod(grad, self, result)` | `flip(cumsum(flip(g * conj(y)))) / conj(x)` before the first zero of a line; at it, the sum over the following elements of *g* times the product of the others; zero after the second |
//! | `logcumsumexp(grad, self, result)` | the sum over *i* from *j* on of `g_i * conj(exp(x_j - y_i))`, without overflow: by `logcumsumexp` of `log(±g) - y` from the end |
//! | `norm(grad, self, result)` | by `p`: 0: zero; 1: `g * sgn(x)`; 2: `g * x / y`; ±∞: `g * sgn(x)` shared evenly by elements of that magnitude; else `g * x * abs(x)^(p - 2) / y^(p - 1)`; zero where *y* is zero, or where *x* is zero for `p < 2` |
//! | `chosen(grad, self, result, results.1)` | *g* added to zeros along `dim` at the indices; without `dim` there are no indices, and elements equal to *y* share *g* evenly: for `max` and `min` all of them, for the other rows the one at the index of the first |
//! | `quantile(grad, self, q, k)` | 0: *g* added to zeros at the two positions of the sorted line around the quantile, by the weights of `interpolation`; 1: *g* times the difference of the two values, times the length of the line less one, if interpolation is linear |
//! | `matmul(grad, self, other, k)` | `g @ H(other)` or `H(x) @ g`, with a dim of size 1 for a vector; summed over batch dims that broadcast |
//! | `contract(grad, self, other, k)` | the contraction of *g* with the conjugate of the other operand over the dims that this one lacks |
//! | `einsum(grad, operands)` | for each operand the product of *g* and the conjugates of the others, by the same letters; letters that only it has are repeated, doubled ones become a diagonal |
//! | `linear(grad, input, weight, bias, result, k)` | *g* through the slope of `activation`, then 0: `g w`, 1: `gᵀ x`, 2: the sum over all dims except the output's |
//! | `attention(grad, query, key, value, attn_mask, result, k)` | for `softmax(s q kᵀ + m) v`: with p the softmax, dv = pᵀ g, ds = p (g vᵀ - sum(g y)), dq = s ds k, dk = s dsᵀ q, dm = ds |
//! | `normalize(grad, self, weight, bias, result, k)` | with n the normalised elements, σ the root of variance and eps, h = g weight: 0: (h - mean(h) - n mean(h n)) / σ, for `rms_norm` without mean(h), with given statistics h / σ; 1: sums of g n; 2: sums of g, over the dims that the weight lacks |
//! | `entropy(grad, self, target, weight, k)` | with w the weight at the target over the divisor of the mean: 0: g w (softmax(x) - target smoothed), for `nll_loss` -g w at the target; 1, for probabilities: -g w log_softmax(x) |
//! | `cdist(grad, x1, x2, result, k)` | the sum over the other's rows of `norm`'s gradient at their differences, with the sign of the operand |
//! | `conv(grad, self, weight, bias, k)` | 0: the transposed convolution of *g* with the weight; 1: the convolution of the input with *g*; 2: the sum over all dims except the channels'; each conjugated. For `conv_transpose*`, convolution and its transpose are exchanged |
//! | `max_pool(grad, self)` | *g* added to zeros at the position of each window's maximum, the first of equal ones |
//! | `avg_pool(grad, self)` | *g* over the divisor of its window, added to every element in the window |
//! | `unpool(grad, indices)` | *g* at the indices |
//! | `pad(grad, self)` | constant: *g* cropped by the padding; else the gradients of copies in the padding, added to their sources |
//! | `interpolate(grad, self)` | the transpose of the weights of `interpolate` |
//! | `im2col(grad, self)` | `fold` of *g* to the sizes of *x* |
//! | `range(grad, self)` | for `narrow_copy`, *g* in zeros of the sizes of *x*; for `slice_scatter`, the range of *g* |
//! | `repeat(grad, self)` | the sum over the copies of each element |
//! | `diagonal(grad, self)` | `diagonal` of *g* for a vector, else *g* on the diagonal of zeros of the sizes of *x* |
//! | `cat(grad, tensors)` | `split` of *g* at the sizes of the tensors |
//! | `along(grad, self, indices)` | *g* added to zeros where `take_along_dim` read |
//! | `scatter(grad, self, index, src, result, k)` | by `reduce`: none: 0: *g*, zero where written, 1: *g* at the index; sum: *g* and *g* at the index; mean: both over the count; prod: times the product of the others; amax, amin: shared evenly by elements equal to *y*; 0 is zero where written without `include_self` |
//! | `masked_scatter(grad, mask, source)` | *g* where the mask holds, in order, then zeros, in the sizes of `source` |
//! | `embedding(grad, input, weight)` | *g* added to zeros at the rows; none at `padding_idx`; over the count of each index with `scale_grad_by_freq` |
//! | `fft(grad, self)` | the adjoint transform: the inverse without its factor, times the factor of `norm`; for `rfft` and `irfft` the omitted half is counted |
//! | `convolve(grad, self, kernel, k)` | the correlation of *g* with the conjugate of the other operand |
//! | `inv(grad, result)` | -Hy g Hy; for `pinv` also (1 - A A⁺) and (1 - A⁺ A) terms |
//! | `solve(grad, self, result, k)` | with z the solution of HA z = g: 1: z; 0: -z Hy; for `solve_triangular` the triangle of that; for `lstsq` also the residual's term |
//! | `det(grad, self, result)` | g conj(y) H(A⁻¹), by cofactors if A is singular; for `slogdet` H(A⁻¹) times the second output's gradient, and the phase of the first |
//! | `matrix_norm(grad, self, result)` | `fro`: g x / y; `nuc`: g U Vᴴ; 2: g u vᴴ of the largest; 1, inf: signs in the largest column or row |
//! | `cholesky(grad, result)` | L⁻ᴴ Φ(Lᴴ g) L⁻¹, made Hermitian; Φ halves the diagonal of a lower triangle |
//! | `qr(grads.0, grads.1, results.0, results.1)` | (gQ + Q copyltu(R gRᴴ - gQᴴ Q)) R⁻ᴴ |
//! | `svd(grads.0, grads.1, grads.2, self, results.0, results.1, results.2)` | U (F∘(Uᴴ gU) S + S F∘(Vᴴ gV) + gS) Vᴴ and the parts outside of U and V |
//! | `svdvals(grad, self)` | U g Vᴴ |
//! | `eigh(grads.0, grads.1, self, results.0, results.1)` | V (gL + F∘(Vᴴ gV)) Vᴴ |
//! | `eigvalsh(grad, self)` | V g Vᴴ |
//! | `eig(grads.0, grads.1, results.0, results.1)` | V⁻ᴴ (gL + F∘(Vᴴ gV - Vᴴ V re(Vᴴ gV diagonal))) Vᴴ |

use super::kernel_class::Class;

/// The derivative of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grad {
    /// A line for each differentiable tensor operand, in `derivatives.txt`.
    Lines,
    /// Computed by other operators, which are recorded themselves.
    Parts,
    /// Another layout of the same elements.
    View,
    /// Zero everywhere, or the result is neither float nor complex.
    Constant,
    /// Maps floats to floats, but has no derivative: the reason, as a clause after "no derivative: ".
    Never(&'static str),
}

impl Grad {
    /// Returns the default of a class.
    pub(super) const fn default_for(class: Class) -> Self {
        match class {
            Class::View | Class::Names => Self::View,
            Class::Query | Class::Random => Self::Constant,
            _ => Self::Lines,
        }
    }
}
