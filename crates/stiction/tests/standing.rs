//! What must stand: a box on a slope, stacks, an arch, tables. At h = 1e-3 these are the bounds of `examples/accuracy.rs`.

use crate::running;

use running::{G, farthest, run, scene, start};

#[test]
fn a_box_below_the_friction_angle_does_not_creep() {
    for h in [1e-2, 1e-3] {
        let far = farthest(scene("box-on-slope.toml"), h, (10.0 / h).round() as usize);
        assert!(far < 1e-9, "h = {h}: moved {far:e} m in 10 s");
    }
}

/// Above the friction angle it slides: a = g (sin - mu cos), a step at a time.
#[test]
fn a_box_above_the_friction_angle_slides_as_coulomb_says() {
    for h in [1e-2, 1e-3] {
        let mut steep = scene("box-on-slope.toml");
        steep.materials[0].friction = 0.2;
        let steps = (0.5f64 / h).round();
        let (stepper, state) = run(steep, h, 0.5);
        let (sin, cos) = 15f64.to_radians().sin_cos();
        let first = stepper.initial();
        let moved =
            (state.position[0] - first.position[0]) * cos - (state.position[2] - first.position[2]) * sin;
        let expected = G * (sin - 0.2 * cos) * h * h * steps * (steps + 1.0) / 2.0;
        assert!((moved / expected - 1.0).abs() < 1e-9, "h = {h}: {moved} m, expected {expected}");
    }
}

#[test]
fn a_sphere_at_rest_stays() {
    assert!(farthest(scene("sphere-on-plane.toml"), 1e-3, 1000) < 1e-12);
}

/// Each box carries those above it.
#[test]
fn ten_boxes_stand_and_carry_each_other() {
    for (h, steps) in [(1e-2, 200), (1e-3, 2000)] {
        let far = farthest(scene("stack-of-ten.toml"), h, steps);
        assert!(far < 1e-9, "h = {h}: moved {far:e} m");
    }
}

#[test]
fn ten_boxes_stand_under_a_thousandfold_weight() {
    for (h, steps) in [(1e-2, 200), (1e-3, 2000)] {
        let (mut stepper, mut state) = start(scene("stack-mass-ratio.toml"), h);
        let mut deep = 0.0f64;
        running::go(&mut stepper, &mut state, steps, |stepper, _| {
            deep = stepper.elements().iter().fold(deep, |d, e| d.max(-e.gap));
        });
        assert!(deep < 1e-9, "h = {h}: {deep:e} m deep");
        // what each level carries
        for (level, e) in [(0.0, 1009.0), (1.0, 1008.0), (9.0, 1000.0)] {
            let at_level = stepper.elements().iter().filter(|x| (x.point[2] - 0.2 * level).abs() < 1e-3);
            let carried: f64 = at_level.map(|x| x.force[0]).sum();
            assert!((carried / (e * G) - 1.0).abs() < 1e-6, "h = {h}, level {level}: {carried} N");
        }
    }
}

#[test]
fn an_arch_of_wedges_stands() {
    // a step's error is the residual's share of the speed g h, times h
    for (h, steps, bound) in [(1e-2, 200, 1e-11), (1e-3, 2000, 1e-12)] {
        let far = farthest(scene("arch.toml"), h, steps);
        assert!(far < bound, "h = {h}: moved {far:e} m");
    }
}

/// A thin one does not (thickness over mean radius below 0.1075, Milankovitch).
#[test]
fn a_thin_arch_falls() {
    let mut thin = scene("arch.toml");
    for body in &mut thin.bodies {
        let Some(stiction::geometry::Shape::Polygon { vertices }) = &mut body.shape else {
            panic!("no wedge")
        };
        for v in vertices {
            // radii 0.97 and 1.03 instead of 0.9 and 1.1
            let radius = if v[1] < 0.0 { 0.97 / 0.9 } else { 1.03 / 1.1 };
            *v = [v[0] * radius, (v[1] + 1.0) * radius - 1.0];
        }
    }
    let far = farthest(thin, 1e-3, 300);
    assert!(far > 1e-2, "moved {far:e} m");
}

/// The legs' shares of an off-centre load follow from the tilt of the table: linear in the foot's place.
#[test]
fn an_elastic_table_shares_its_load_as_the_elastic_solution_says() {
    for h in [2e-3, 1e-3] {
        let (stepper, _) = run(scene("four-legged-table-elastic.toml"), h, 1.0);
        let mass = stepper.scene().bodies[0].link.inertia.mass;
        let total = mass * G + 100.0;
        // moments of the load about the middle, spread over feet at (+-0.5, +-0.3)
        let share =
            |x: f64, y: f64| total / 4.0 + 100.0 * 0.2 * x / (4.0 * 0.25) + 100.0 * 0.1 * y / (4.0 * 0.09);
        for e in stepper.elements() {
            let expected = share(0.5 * e.point[0].signum(), 0.3 * e.point[1].signum());
            let found = e.force[0];
            assert!((found / expected - 1.0).abs() < 1e-3, "{:?}: {found} N, expected {expected}", e.point);
        }
        assert_eq!(stepper.elements().len(), 4);
    }
}
