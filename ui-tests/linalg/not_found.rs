use nomina::prelude::*;

dims! { Row, Col, K }

fn main() {
    let a = Tensor::<(Row, Col)>::eye([3, 3]);
    let det = a.det((Row, K));
}

// fix: let det = a.det((Row, Col));
