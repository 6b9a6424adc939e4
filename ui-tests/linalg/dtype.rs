use nomina::prelude::*;

dims! { Row, Col }

fn main() {
    let a = tensor!([[1, 2], [3, 4]]; Row, Col);
    let det = a.det((Row, Col));
}

// fix: let det = a.to::<f64>().det((Row, Col));
