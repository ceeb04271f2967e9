//! `cargo run --example machine -- 7` prints the random machine of seed 7 as a scene file; `-- 0 100` runs the seeds from 0 to 99, and prints how each ended, with
//! the energy that it made or lost without a cause, and the largest change of an energy.

use std::sync::Arc;
use std::time::Instant;
use stiction::model::Model;
use stiction::random::machine::machine;
use stiction::run::{ENTRIES, Fault, Options, Summary, run};
use stiction::scene::Scene;

fn main() -> Result<(), Fault> {
    let seeds = std::env::args().skip(1).map(|s| s.parse()).collect::<Result<Vec<u64>, _>>()?;
    match seeds[..] {
        [first, end] => (first..end).try_for_each(|seed| report(seed, &machine(seed))),
        [seed] => {
            print!("{}", machine(seed));
            Ok(())
        }
        _ => Err("expected a seed, or the first seed and the one after the last".into()),
    }
}

fn report(seed: u64, text: &str) -> Result<(), Fault> {
    let scene = Scene::from_toml("machine.toml", text)?;
    let model = Arc::new(Model::new(&scene).map_err(|faults| format!("{faults:?}"))?);
    let (mut state, mut summary, start) = (model.initial(), Summary::default(), Instant::now());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary])?;
    let book = ENTRIES.iter().zip(summary.now.iter().zip(&summary.start));
    let book = book.filter(|(_, (now, start))| now != start);
    let book: Vec<String> = book.map(|(e, (now, start))| format!("{} {:.3e}", e.name, now - start)).collect();
    println!(
        "{seed}: {:.1} s, energy {:.3e} of {:.3e} J ({}), {ended:?}",
        start.elapsed().as_secs_f64(),
        summary.balance_error(),
        summary.largest_change,
        book.join(", ")
    );
    Ok(())
}
