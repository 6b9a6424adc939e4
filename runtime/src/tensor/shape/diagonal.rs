//! Diagonals, triangles and planes.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef, NameItem};
use nomina_core::{Error, ErrorKind, Names, Result};
use nomina_macros::forms;

use crate::call;
use crate::tensor::family::in_place_as;
use crate::tensor::{DynTensor, IntoNames, about, family};

/// Options of `diagonal_with`, `diag_with`, `diagflat_with`, `tril_with` and `triu_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiagonalOptions {
    /// The diagonal: 0 is the main one, 1 the one above it, -1 the one below it.
    pub offset: i64,
}

/// Options of `diag_embed_with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagEmbedOptions {
    /// The diagonal: 0 is the main one, 1 the one above it, -1 the one below it.
    pub offset: i64,
    /// The position of the planes' first dim in the result.
    pub dim1: i64,
    /// The position of the planes' second dim in the result.
    pub dim2: i64,
}

impl Default for DiagEmbedOptions {
    fn default() -> Self {
        Self {
            offset: 0,
            dim1: -2,
            dim2: -1,
        }
    }
}

/// Options of `rot90_with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rot90Options {
    /// The number of quarters; negative for the opposite direction.
    pub k: i64,
}

impl Default for Rot90Options {
    fn default() -> Self {
        Self { k: 1 }
    }
}

fn items(names: &Names) -> [NameItem<'_>; 2] {
    [(&names[0]).into(), (&names[1]).into()]
}

impl DynTensor {
    /// Returns the diagonal of two dims, which are removed, as a new last dim, with or without a
    /// name.
    ///
    /// # Errors
    /// If a dim does not exist or both are the same, [`ErrorKind::DuplicateNames`] if another dim
    /// is named `outdim`.
    #[forms(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn diagonal_with<'a, 'b>(
        &self,
        dim1: impl Into<DimRef<'a>>,
        dim2: impl Into<DimRef<'a>>,
        outdim: impl Into<Option<&'b str>>,
        options: DiagonalOptions,
    ) -> Result<Self> {
        let (dim1, dim2, outdim) = (dim1.into(), dim2.into(), outdim.into());
        let fail = |e| about(e, &[self]);
        let plan = rule::diagonal("diagonal", &self.names, dim1, dim2, outdim).map_err(fail)?;
        let offset = offset_of(options.offset);
        let raw = self.raw.diagonal(plan.dim1, plan.dim2, offset);
        Ok(Self::new(raw.map_err(fail)?, plan.names))
    }

    /// Returns the diagonal of a matrix, or a matrix with a vector as its diagonal; `names` are
    /// those of the result.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for another number of dims. Also if the names do not fit.
    #[forms(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn diag_with(&self, names: impl IntoNames, options: DiagonalOptions) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        match self.rank() {
            1 => {
                let names = names.into_names("diag", 2).map_err(fail)?;
                self.spread("diag", &names, options.offset)
            }
            2 => {
                let names = names.into_names("diag", 1).map_err(fail)?;
                let seen = self.raw.diagonal(0, 1, offset_of(options.offset));
                let raw = seen.and_then(|seen| call::duplicate(&seen));
                Ok(Self::new(raw.map_err(fail)?, names))
            }
            rank => {
                let what = format!("takes 1 or 2 dims, not {rank}");
                Err(fail(Error::new(ErrorKind::Rank, "diag", what))
                    .hint("use `diagonal` or `diag_embed` for planes of a larger tensor"))
            }
        }
    }

    /// Like [`DynTensor::diag_with`], but writes to `out`.
    ///
    /// # Errors
    /// Like [`DynTensor::diag`]; also if `out` cannot hold the result.
    pub fn diag_out(
        &self,
        names: impl IntoNames,
        options: DiagonalOptions,
        out: &mut Self,
    ) -> Result<()> {
        family::store(Op::Diag, self.diag_with(names, options)?, out)
    }

    /// Returns a matrix with these two names and a vector as its diagonal.
    fn spread(&self, op: &'static str, names: &Names, offset: i64) -> Result<Self> {
        let raw = call::diagonal_matrix(op, &self.raw, offset, 0, 1);
        Ok(Self::new(
            raw.map_err(|e| about(e, &[self]))?,
            names.clone(),
        ))
    }

    /// Returns a matrix with all elements, in row-major order, as its diagonal.
    ///
    /// # Errors
    /// If names are not two, or memory runs out.
    #[forms(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn diagflat_with(&self, names: impl IntoNames, options: DiagonalOptions) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let names = names.into_names("diagflat", 2).map_err(fail)?;
        let line = self.raw.reshape(&[self.numel()]).map_err(fail)?;
        let line = Self::new(line, Names::unnamed(1));
        line.spread("diagflat", &names, options.offset)
            .map_err(|e| about(e, &[self]))
    }

    /// Returns planes with the elements of the last dim as their diagonals and zeros elsewhere. The
    /// last dim is removed; the two dims of the planes, with these names, come last.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for a number. Also if there are not two different names. With options,
    /// [`ErrorKind::Index`] for positions that do not exist.
    #[forms(with = "but on the given diagonal, and with the planes in the given dims.")]
    pub fn diag_embed_with(
        &self,
        names: impl IntoNames,
        options: DiagEmbedOptions,
    ) -> Result<Self> {
        let op = "diag_embed";
        let fail = |e| about(e, &[self]);
        let plane = names.into_names(op, 2).map_err(fail)?;
        let dims = (options.dim1, options.dim2);
        let (dim1, dim2, names) =
            rule::diag_embed(op, &self.names, dims, &items(&plane)).map_err(fail)?;
        let raw = call::diagonal_matrix(op, &self.raw, options.offset, dim1, dim2);
        Ok(Self::new(raw.map_err(fail)?, names))
    }
}

/// An offset beyond `isize` is beyond every size.
fn offset_of(offset: i64) -> isize {
    isize::try_from(offset).unwrap_or(if offset < 0 { isize::MIN } else { isize::MAX })
}

macro_rules! triangles {
    ($($op:ident $upper:literal $name:ident $with:ident $in_place:ident $in_place_with:ident $out:ident $what:literal;)*) => {
        impl DynTensor {$(
            #[doc = concat!($what, " the diagonal of the last two dims, zeros elsewhere.")]
            ///
            /// # Errors
            /// [`ErrorKind::Rank`] for fewer than two dims.
            pub fn $name(&self) -> Result<Self> {
                self.$with(DiagonalOptions::default())
            }

            #[doc = concat!("[`DynTensor::", stringify!($name), "`] of another diagonal.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($name), "`].")]
            pub fn $with(&self, options: DiagonalOptions) -> Result<Self> {
                let raw = call::triangle(Op::$op.name(), &self.raw, options.offset, $upper);
                Ok(Self::new(raw.map_err(|e| about(e, &[self]))?, self.names.clone()))
            }

            #[doc = concat!("[`DynTensor::", stringify!($name), "`] in place.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($name), "`].")]
            pub fn $in_place(&mut self) -> Result<&mut Self> {
                self.$in_place_with(DiagonalOptions::default())
            }

            #[doc = concat!("[`DynTensor::", stringify!($with), "`] in place.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($name), "`].")]
            pub fn $in_place_with(&mut self, options: DiagonalOptions) -> Result<&mut Self> {
                self.at_least(Op::$op.name(), 2)?;
                let names = self.names.clone();
                in_place_as(self, names, &[], |dest| {
                    call::triangle_in_place(Op::$op.name(), dest, options.offset, $upper)
                })?;
                Ok(self)
            }

            #[doc = concat!("[`DynTensor::", stringify!($with), "`] into `out`.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($name), "`], and when `out` does not hold the result.")]
            pub fn $out(&self, options: DiagonalOptions, out: &mut Self) -> Result<()> {
                family::store(Op::$op, self.$with(options)?, out)
            }
        )*}
    };
}

triangles! {
    Tril false tril tril_with tril_ tril_with_ tril_out "The elements on and below";
    Triu true triu triu_with triu_ triu_with_ triu_out "The elements on and above";
}
