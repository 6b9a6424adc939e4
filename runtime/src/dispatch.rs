//! Dispatch from a dtype to a Rust type.

/// Evaluates an expression with the type alias `$t` bound to the Rust type of a dtype.
macro_rules! with_dtype {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            nomina_core::DType::Bool => {
                type $t = bool;
                $body
            }
            nomina_core::DType::U8 => {
                type $t = u8;
                $body
            }
            nomina_core::DType::I8 => {
                type $t = i8;
                $body
            }
            nomina_core::DType::I16 => {
                type $t = i16;
                $body
            }
            nomina_core::DType::I32 => {
                type $t = i32;
                $body
            }
            nomina_core::DType::I64 => {
                type $t = i64;
                $body
            }
            nomina_core::DType::F16 => {
                type $t = half::f16;
                $body
            }
            nomina_core::DType::BF16 => {
                type $t = half::bf16;
                $body
            }
            nomina_core::DType::F32 => {
                type $t = f32;
                $body
            }
            nomina_core::DType::F64 => {
                type $t = f64;
                $body
            }
            nomina_core::DType::C64 => {
                type $t = num_complex::Complex<f32>;
                $body
            }
            nomina_core::DType::C128 => {
                type $t = num_complex::Complex<f64>;
                $body
            }
        }
    };
}
pub(crate) use with_dtype;

/// Returns the dtype in which the host computes for `dtype`: 16-bit floats compute in `f32`.
#[must_use]
pub(crate) fn arithmetic(dtype: nomina_core::DType) -> nomina_core::DType {
    match dtype {
        nomina_core::DType::F16 | nomina_core::DType::BF16 => nomina_core::DType::F32,
        other => other,
    }
}

/// Returns the dtype in which sums and their quotients are computed before they are rounded once.
#[must_use]
pub(crate) fn accumulator(dtype: nomina_core::DType) -> nomina_core::DType {
    use nomina_core::DType;
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => DType::F64,
        DType::C64 => DType::C128,
        other => other,
    }
}
