//! Random convex parts dropped into a bin with default settings: every step ends, nothing gets out, no energy comes from nowhere.

use std::sync::Arc;
use stiction::model::Model;
use stiction::random::bin;
use stiction::run::{Ended, Fault, Observer, Options, Summary, View, run};

/// Seeds of the test, and the duration of each, s.
const SEEDS: u64 = 200;
const DURATION: f64 = 1.0;

/// Farthest that a part's centre was outside the bin, m.
#[derive(Default)]
struct Farthest(f64);

impl Observer for Farthest {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let relaxed = view.workspace().relaxed.len();
        assert_eq!(relaxed, view.report.relaxed, "every relaxed row is listed");
        let most = if view.report.loose > 0 { 1e-6 } else { view.scene().step.tolerance };
        assert!(view.report.residual.relative <= most);
        if view.is_record {
            for k in 0..view.scene().bodies.len() {
                let center = view.scene().bodies[k].link.inertia.center;
                self.0 = self.0.max(bin::outside(view.kinematics().pose(k).point(center)));
            }
        }
        Ok(())
    }
}

#[test]
fn random_parts_in_a_bin_run_to_the_end() {
    let next = std::sync::atomic::AtomicU64::new(0);
    let work = || {
        let mut bad = vec![];
        loop {
            let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if seed >= SEEDS {
                return bad;
            }
            let model = Arc::new(Model::new(&bin::bin(seed, DURATION)).expect("a valid scene"));
            let (mut state, mut summary, mut far) =
                (model.initial(), Summary::default(), Farthest::default());
            let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary, &mut far]);
            let ended = ended.expect("no observer fails");
            let made = summary.relative_balance_error();
            if ended != Ended::Finished || made > 0.01 || far.0 > 0.005 {
                bad.push(format!("seed {seed}: {ended:?}, {made:.3} of energy made, {:.4} m outside", far.0));
            }
        }
    };
    let bad: Vec<String> = std::thread::scope(|s| {
        let threads: Vec<_> = (0..2).map(|_| s.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("no panic")).collect()
    });
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
