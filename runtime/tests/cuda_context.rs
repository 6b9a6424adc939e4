//! What calls do to the calling thread: its context of the driver is the one that it had.
#![cfg(feature = "cuda")]

#[path = "../../tests/cuda/here.rs"]
mod here;

use cudarc::driver::result::ctx::{get_current, set_current};
use here::{DEVICE, cases, device};
use nomina_core::DType;
use nomina_runtime::{Device, Raw, call, cuda};

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
    let others = cuda::count().unwrap();
    for ordinal in 1..others {
        sum(Device::from(ordinal));
        assert_eq!(get_current().unwrap(), Some(ours), "{ordinal} of {others}");
        cases(1);
    }
    // What one device's call takes, another's gives back: as a thread of somebody else's context has it.
    // SAFETY: a device's own context, which is never released.
    unsafe { set_current(ours) }.unwrap();
    for device in Device::available() {
        sum(device);
        assert_eq!(get_current().unwrap(), Some(ours), "{device}");
        cases(1);
    }
}
