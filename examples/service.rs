//! A service of four threads that finds the nearest colours: requests arrive with their names as data, and a wrong one is
//! answered with the error's text.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use nomina::prelude::*;

dims! {
    /// Colours of a request.
    pub Query,
    /// Colours of the palette.
    pub Entry,
    /// Red, green, blue.
    pub Rgb = 3,
}

/// A request: any number of colours from 0 to 1.
pub struct Request {
    /// The colours.
    pub colours: DynTensor,
    /// Where the indices of the nearest entries go.
    pub answer: mpsc::Sender<Result<Vec<i64>>>,
}

/// A palette, which threads share without a copy.
pub struct Palette(pub Tensor<(Entry, Rgb)>);

impl Palette {
    /// Returns the index of the nearest entry for each colour. The request's dims may come in any order.
    ///
    /// # Errors
    /// If the dims are not a query and red, green, blue.
    pub fn nearest(&self, colours: &DynTensor) -> Result<Vec<i64>> {
        let colours = colours.align_to((Query, Rgb))?;
        let colours: Tensor<(Query, Rgb)> = colours.to::<f32>()?.typed()?;
        let apart = colours.align_to((Query, Entry, Rgb)) - &self.0;
        Ok(apart.square().sum(Rgb).argmin(Entry).to_vec())
    }
}

/// Answers requests on some threads until their sender is dropped.
pub fn serve(palette: &Arc<Palette>, threads: usize) -> (mpsc::Sender<Request>, Vec<Thread>) {
    let (send, requests) = mpsc::channel::<Request>();
    let requests = Arc::new(Mutex::new(requests));
    let start = |_| {
        let (palette, requests) = (Arc::clone(palette), Arc::clone(&requests));
        thread::spawn(move || {
            let next = || requests.lock().ok()?.recv().ok();
            while let Some(Request { colours, answer }) = next() {
                // The asker may be gone.
                let _ = answer.send(palette.nearest(&colours));
            }
        })
    };
    (send, (0..threads).map(start).collect())
}

type Thread = thread::JoinHandle<()>;

fn main() -> Result<()> {
    let palette = tensor!([[1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 1.]]; Entry, Rgb);
    let (send, threads) = serve(&Arc::new(Palette(palette)), 4);
    let names = [["Query", "Rgb"], ["Rgb", "Query"], ["Query", "Hsv"]];
    for names in names {
        let colours = DynTensor::from_vec(
            vec![0.9_f32, 0.2, 0.1, 0.8, 0.9, 0.7, 0.1, 0.1, 0.4],
            &[3, 3],
            names,
        )?;
        let (answer, answered) = mpsc::channel();
        let _ = send.send(Request { colours, answer });
        match answered.recv() {
            Ok(Ok(nearest)) => println!("{names:?}: {nearest:?}"),
            Ok(Err(error)) => println!("{names:?}: {error}"),
            Err(_) => println!("no thread answered"),
        }
    }
    drop(send);
    for thread in threads {
        let _ = thread.join();
    }
    Ok(())
}
