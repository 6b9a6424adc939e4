use super::*;

#[test]
fn a_vector_goes_in_and_out() {
    let data = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let address = data.as_ptr();
    let raw = Raw::from_vec(data, &[2, 3]).unwrap();
    assert_eq!(
        raw.transpose(0, 1).unwrap().to_vec::<f32>().unwrap(),
        [1., 4., 2., 5., 3., 6.]
    );
    assert_eq!(raw.get::<f32>(&[1, 0]).unwrap(), 4.0);
    let back = raw.into_vec::<f32>().unwrap();
    assert_eq!(back.as_ptr(), address);
}
