//! Motion under weight and friction does not depend on a common factor of all masses, nor on the masses of other islands.

use stiction::stepper::Stepper;

/// A box that slides to rest beside two that are stacked and pushed, `apart` m along y; forces scale with the masses.
fn island(name: &str, mass: f64, apart: f64) -> String {
    let part = |kind: &str, place: [f64; 3], speed: f64, share: f64| {
        let y = place[1] + apart;
        format!(
            "[[body]]\nname = \"{kind} {name}\"\nshape = {{ box = {{ half = [0.1, 0.08, 0.05] }} }}\nmass = {:e}\n\
             position = [{}, {y}, {}]\nvelocity = [{speed}, 0.2, 0]\n",
            share * mass,
            place[0],
            place[2]
        )
    };
    let load = format!(
        "[[load]]\nbody = \"lower {name}\"\nforce = {{ constant = [{:e}, 0, 0] }}\npoint = [0, 0.01, 0.02]\n",
        6.0 * mass
    );
    part("slides", [-0.5, 0.0, 0.05], 0.8, 1.0)
        + &part("lower", [0.0, 0.0, 0.05], 0.0, 1.0)
        + &part("upper", [0.02, 0.01, 0.15], 0.0, 0.5)
        + &load
}

/// Positions after 0.3 s, for each of the islands.
fn ends(masses: &[f64]) -> Vec<Vec<f64>> {
    let mut text = "[[world]]\nname = \"ground\"\nshape = \"half_space\"\n".to_owned();
    for (k, mass) in masses.iter().enumerate() {
        text += &island(&k.to_string(), *mass, k as f64);
    }
    let mut stepper =
        Stepper::new(stiction::from_toml("masses", &text).expect("a valid scene")).expect("a model");
    let mut state = stepper.initial();
    for _ in 0..300 {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(report.residual.relative <= 1e-10 && report.loose == 0, "{masses:?}: {report:?}");
    }
    // seven coordinates a body, three bodies an island
    let mut out: Vec<Vec<f64>> = state.position.chunks(21).map(<[f64]>::to_vec).collect();
    for (k, island) in out.iter_mut().enumerate() {
        (0..3).for_each(|body| island[7 * body + 1] -= k as f64);
    }
    out
}

#[test]
fn bodies_of_all_masses_move_like_one_kilogram() {
    let one = &ends(&[1.0])[0];
    // the first has slid: the test is not one of bodies that never move
    assert!(one[0] > -0.45, "{one:?}");
    for masses in [&[1e-14][..], &[1e6], &[1e-9], &[1e-14, 1e6], &[1.0, 1e-14, 1e3]] {
        for (mass, end) in masses.iter().zip(ends(masses)) {
            let off = end.iter().zip(one).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-7, "{mass:e} kg of {masses:?}: {off:e} m from 1 kg");
        }
    }
}
