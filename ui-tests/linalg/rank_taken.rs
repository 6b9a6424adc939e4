use nomina::prelude::*;

dims! { Row, Col, Rank }

fn main() {
    let a = Tensor::<(Row, Col)>::eye([3, 3]);
    let (q, r) = a.qr((Row, Col), Col);
}

// fix: let (q, r) = a.qr((Row, Col), Rank);
