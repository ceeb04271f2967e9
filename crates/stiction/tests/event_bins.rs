//! Random convex parts that fall into a bin under `scheme = "event"`: every run ends, forces obey the law, nothing overlaps, no energy comes from nowhere.

use std::sync::Arc;
use stiction::model::Model;
use stiction::random::bin;
use stiction::run::{Ended, Fault, Observer, Options, Summary, View, run};
use stiction::scene::Scheme;

/// Seeds whose scenes have up to `MOST` parts are run for `DURATION` seconds.
const SEEDS: u64 = 30;
const MOST: usize = 3;
const DURATION: f64 = 1.0;

/// What must not happen, and how far it did.
#[derive(Default)]
struct Watch {
    pull: f64,
    beyond_cone: f64,
    overlap: f64,
    energy: Option<f64>,
    gain: f64,
    outside: f64,
}

impl Observer for Watch {
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let mu = view.scene().materials[0].friction;
        for e in view.elements() {
            let [n, t, o] = e.force;
            self.pull = self.pull.max(-n);
            self.beyond_cone = self.beyond_cone.max(t.hypot(o) - mu * n);
            self.overlap = self.overlap.max(-e.gap);
        }
        let balance = view.balance();
        let energy = balance[0] + balance[1];
        let before = self.energy.replace(energy).unwrap_or(energy);
        self.gain = self.gain.max(energy - before);
        for k in 0..view.scene().bodies.len() {
            let center = view.scene().bodies[k].link.inertia.center;
            self.outside = self.outside.max(bin::outside(view.kinematics().pose(k).point(center)));
        }
        Ok(())
    }
}

#[test]
fn random_parts_in_a_bin_run_to_the_end_and_obey_the_laws() {
    let mut count = 0;
    for seed in 0..SEEDS {
        let mut scene = bin::bin(seed, DURATION);
        if scene.bodies.len() > MOST {
            continue;
        }
        count += 1;
        (scene.step.scheme, scene.step.h) = (Scheme::Event, 0.01);
        let model = Arc::new(Model::new(&scene).expect("a valid scene"));
        let (mut state, mut summary, mut watch) = (model.initial(), Summary::default(), Watch::default());
        let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary, &mut watch]);
        assert_eq!(ended.expect("no observer fails"), Ended::Finished, "seed {seed}");
        let weight = 9.81 * model.scene().bodies.iter().map(|b| b.link.inertia.mass).sum::<f64>();
        let Watch { pull, beyond_cone, overlap, gain, outside, .. } = watch;
        println!("seed {seed}: {} time steps, {:.1e} s", summary.stepped, summary.stepped_time);
        assert!(pull <= 1e-9 * weight, "seed {seed}: a contact pulls by {pull:e} N");
        assert!(beyond_cone <= 1e-9 * weight, "seed {seed}: friction beyond its bound by {beyond_cone:e} N");
        assert!(overlap <= 1e-9, "seed {seed}: overlap of {overlap:e} m");
        assert!(outside == 0.0, "seed {seed}: a part is {outside:e} m outside the bin");
        assert!(gain <= 1e-8, "seed {seed}: energy grows by {gain:e} J in a step");
        assert!(summary.stepped_time <= 1e-3, "seed {seed}: {:e} s of time steps", summary.stepped_time);
    }
    assert!(count >= 8, "{count}");
}
