//! Random machines: whatever a scene may hold, with default settings.

use std::sync::Arc;
use stiction::model::Model;
use stiction::random::machine::machine;
use stiction::run::{Ended, Options, Summary, run};

/// Energy that a run may gain, as a share of the largest change of any energy in it.
const GAIN: f64 = 0.01;
/// Seeds that take less than 3 s.
const SEEDS: [u64; 20] = [5, 8, 9, 10, 12, 13, 14, 15, 18, 21, 23, 25, 27, 28, 34, 35, 38, 39, 40, 17];

/// Each of 20 machines runs to its end, and makes no energy.
#[test]
fn random_machines_run_and_make_no_energy() {
    for seed in SEEDS {
        let text = machine(seed);
        let scene = stiction::from_toml("machine.toml", &text).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let model = Arc::new(Model::new(&scene).unwrap_or_else(|e| panic!("seed {seed}: {e:?}")));
        let (mut state, mut summary) = (model.initial(), Summary::default());
        let ended =
            run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
        assert_eq!(ended, Ended::Finished, "seed {seed}");
        let (gain, most) = (summary.balance_error(), summary.largest_change);
        assert!(gain <= GAIN * most, "seed {seed}: {gain:e} J made, of {most:e} J");
    }
}

/// A small body given by a polynomial, beside a wall that is a hundred times as high: both are found to be near.
#[test]
fn a_small_polynomial_body_is_found_beside_a_tall_wall() {
    let text = "gravity = [0, 0, 0]\n[[world]]\nname = \"wall\"\nshape = { box = { half = [0.1, 1, 3] } }\nposition = [0.6, 0, 3]\n\
        [[body]]\nname = \"part\"\nmass = 0.01\ninertia = [1e-5, 1e-5, 1e-5]\nposition = [0.4662847916075404, -0.26137555184528044, 0.19729448200892755]\n\
        orientation = { quaternion = [0.7249061084201973, 0.30894911806855946, 0.19849830412639963, -0.5828035686907621] }\n\
        shape = { polynomial = { terms = [{ coefficient = 577790.8326406461, powers = [4, 0, 0] }, { coefficient = 537.4899220639612, powers = [2, 0, 0] }, \
        { coefficient = 352934.10221792164, powers = [0, 4, 0] }, { coefficient = 420.07981516488127, powers = [0, 2, 0] }, \
        { coefficient = 24228.717052679618, powers = [0, 0, 4] }, { coefficient = 110.06524667823086, powers = [0, 0, 2] }, \
        { coefficient = -1, powers = [0, 0, 0] }], within = [[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]] } }\n\
        velocity = [1, 0, 0]\n[step]\nduration = 0.1\n";
    let scene = stiction::from_toml("polynomial.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let model = Arc::new(Model::new(&scene).expect("a valid model"));
    let (mut state, mut summary) = (model.initial(), Summary::default());
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut summary]).expect("no observer fails");
    assert_eq!(ended, Ended::Finished);
    // at 1 m/s it would be inside the wall
    assert!(state.position[0] < 0.5, "{state:?}");
}
