//! Calls leave the calling thread's driver context unchanged.
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
    // A thread without a context may keep the device's.
    sum(DEVICE);
    let ours = get_current().unwrap().expect("the device's");
    // Like a thread with someone else's context: each call on a device restores it.
    for device in Device::available() {
        sum(device);
        assert_eq!(get_current().unwrap(), Some(ours), "{device}");
        cases(1);
    }
}
