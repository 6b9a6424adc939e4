use nomina::prelude::*;

dims! { N, C, Month }

fn means<R: Dim, I: Dim>(x: &Tensor<(R, I)>, months: &Tensor<(R,), i64>) {
    let y = x.group_by(R::default(), months, Month.of(2));
}

fn main() {
    means(&Tensor::<(N, C)>::zeros([2, 3]), &tensor!([0, 1]; N));
}

// fix 5: fn means<R: Dim, I: Dim>(x: &Tensor<(R, I)>, months: &Tensor<(R,), i64>) where (R, I): Distinct, (Month,): nomina::dims::IndexOf<(R, I), R> {
