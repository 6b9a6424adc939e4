//! Steps of optimizers.

/// A parameter, what it keeps, and its gradient: so many elements side by side, all of one dtype.
pub(crate) struct AdamWJob {
    pub count: usize,
    pub param: *mut u8,
    pub grad: *const u8,
    /// The running means of the gradient and of its square.
    pub mean: *mut u8,
    pub square: *mut u8,
}

/// What elements are multiplied by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdamWFactors {
    /// The parameter, before anything is taken off.
    pub decay: f64,
    pub keep_mean: f64,
    pub keep_square: f64,
    /// The mean, which is taken off.
    pub rate: f64,
    /// The root of the mean square, before `eps` is added.
    pub root: f64,
    pub eps: f64,
}
