use nomina::prelude::*;

dims! { Row, Col, K }

fn main() {
    let a = Tensor::<(Row, Col)>::eye([3, 3]);
    let b = Tensor::<(Col, K)>::ones([3, 2]);
    let x = a.solve(&b, (Row, Col));
}

// fix: let x = a.solve(&b.rename(Col, Row), (Row, Col));
