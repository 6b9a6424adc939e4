//! What calls do to the calling thread: its context of the driver is the one that it had.
#![cfg(feature = "cuda")]

#[path = "../../tests/cuda/here.rs"]
mod here;

use cudarc::driver::result::ctx::get_current;
use here::{DEVICE, cases, device};
use nomina_core::DType;
use nomina_runtime::{Device, Raw, call};

#[test]
fn a_thread_keeps_its_context() {
    let _here = device!(&[&[]]);
    let sum = |device| {
        let x = Raw::from_vec(vec![1.5_f32; 8], &[8]).unwrap();
        let x = call::to_device(&x, device).unwrap();
        call::to_dtype(&x, DType::F64)
            .unwrap()
            .to_vec::<f64>()
            .unwrap()
    };
    // A thread that has none may keep the device's.
    sum(DEVICE);
    let ours = get_current().unwrap().expect("the device's");
    // As a thread of somebody else's context has it: what each device's call takes is given back.
    for device in Device::available() {
        sum(device);
        assert_eq!(get_current().unwrap(), Some(ours), "{device}");
        cases(1);
    }
}
