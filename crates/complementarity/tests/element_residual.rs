//! The residual of an element by itself: what it sees that sums over an island do not, and that solvers go on until it holds.

use crate::piles;

use complementarity::operator::{Factored, Operator};
use complementarity::problem::{ContactProblem, Element, Friction};
use complementarity::residual::{self, Evaluation, Residual};
use complementarity::solver::{Method, Solver};
use piles::uniform;
use proptest::prelude::*;

/// A press on some sliders, all driven along x over the ground, in the plane: contacts slider/ground and press/slider, and a drive for each slider.
struct Press {
    a: Operator,
    b: Vec<f64>,
    elements: Vec<Element>,
    reference: Vec<f64>,
    /// The solution, by construction: forces first, then `b`.
    exact: Vec<f64>,
    sliders: usize,
    mu: f64,
    slip: f64,
    /// Mass of the press and of the last slider over the time step.
    inertia: f64,
}

/// First row of the contact with the ground of a slider; then that with the press, then its drive.
const fn row(slider: usize) -> usize {
    5 * slider
}

impl Press {
    /// Masses and loads differ by up to so many powers of ten. `units`: of mass, length and time.
    fn new(seed: u64, spread: f64, units: [f64; 3]) -> Self {
        let mut random = seed;
        let [mass, length, time] = units;
        let mut power = |least: f64, most: f64| 10f64.powf(least + (most - least) * uniform(&mut random));
        let (h, mu) = (power(-4.0, -2.0) * time, power(-1.5, 0.0));
        let sliders = 1 + (seed % 3) as usize;
        let heavy = power(0.0, spread) * mass;
        let force = mass * length / time.powi(2);
        let slip = power(-5.0, -1.0) * length / time;
        let mut f = Factored::default();
        f.clear(2 + 2 * sliders, h);
        let (mut exact, mut elements, mut reference) = (vec![], vec![], vec![]);
        let mut inertia = 0.0;
        for k in 0..sliders {
            let light = power(-spread, 0.0) * mass;
            inertia = (heavy + light) / h;
            let own = |m: f64| 1.0 / m.sqrt();
            let contact = Element::contact(2, mu, Friction::Cone);
            f.begin(2);
            // rows n and t, velocities x and z
            f.segment(2 + 2 * k, 2).copy_from_slice(&[0.0, own(light), own(light), 0.0]);
            f.begin(2);
            f.segment(0, 2).copy_from_slice(&[0.0, own(heavy), own(heavy), 0.0]);
            f.segment(2 + 2 * k, 2).copy_from_slice(&[0.0, -own(light), -own(light), 0.0]);
            f.begin(1);
            f.segment(2 + 2 * k, 2).copy_from_slice(&[own(light), 0.0]);
            let (above, weight) = (power(0.0, 4.0) * force, power(-3.0, 1.0) * force);
            // the slider slips forwards on the ground and under the press
            let (below, on_top) = (-mu * (above + weight), mu * above);
            exact.extend([above + weight, below, above, on_top, on_top - below]);
            elements.extend([contact, contact, Element::Bilateral]);
            reference.extend([power(-2.0, 1.0) * length / time; 3]);
        }
        let a = Operator::Factored(f);
        let mut b = vec![0.0; exact.len()];
        a.times(&exact, &mut b, &mut vec![]);
        for k in 0..sliders {
            let s = [0.0, slip, 0.0, -slip, 0.0];
            b[row(k)..row(k + 1)].iter_mut().zip(s).for_each(|(b, s)| *b = s - *b);
        }
        Self { a, b, elements, reference, exact, sliders, mu, slip, inertia }
    }

    fn problem(&self, known: bool) -> ContactProblem<'_> {
        let reference = if known { &self.reference[..] } else { &[] };
        ContactProblem { reference, ..ContactProblem::new(&self.a, &self.b, &self.elements) }
    }

    fn evaluate(&self, known: bool, lambda: &[f64]) -> Residual {
        residual::contact(self.problem(known), lambda, &mut Evaluation::default())
    }

    /// Forces with a share of the friction below a slider left out, and that much less effort of its drive: nothing else moves.
    fn without(&self, slider: usize, share: f64) -> Vec<f64> {
        let mut lambda = self.exact.clone();
        let change = -share * lambda[row(slider) + 1];
        lambda[row(slider) + 1] += change;
        lambda[row(slider) + 4] -= change;
        lambda
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The exact solution is one, and a wrong friction force of one light slider is seen however small its slip is against what the loads would do.
    #[test]
    fn wrong_friction_of_one_light_contact_is_seen(seed in 1u64..10_000, power in -4.0..0.0f64) {
        let p = Press::new(seed, 4.0, [1.0; 3]);
        let good = p.evaluate(true, &p.exact);
        prop_assert!(good.relative <= 1e-12 && good.natural <= 1e-12, "{:?}", good);
        let share = 10f64.powf(power);
        for slider in 0..p.sliders {
            let bad = p.evaluate(true, &p.without(slider, share));
            let expected = (p.slip / p.reference[3 * slider]).min(share);
            let found = bad.element / expected;
            prop_assert!((0.5..=1.001).contains(&found), "{:?}, expected {}", bad, expected);
            prop_assert!(bad.relative >= bad.element && bad.natural <= bad.relative);
        }
    }

    /// The same forces of the same problem in other units of mass, length and time, with and without reference speeds.
    #[test]
    fn it_has_no_units(seed in 1u64..10_000, powers in prop::array::uniform3(-6i32..=6), power in -4.0..0.0f64) {
        let units = powers.map(|p| 10f64.powi(p));
        let (here, there) = (Press::new(seed, 4.0, [1.0; 3]), Press::new(seed, 4.0, units));
        for (slider, known) in (0..here.sliders).flat_map(|k| [(k, true), (k, false)]) {
            let share = 10f64.powf(power);
            let [one, other] = [&here, &there].map(|p| p.evaluate(known, &p.without(slider, share)).element);
            // the share of the rounding in a slip is not the same
            prop_assert!((one - other).abs() <= 1e-3 * one, "{} {}", one, other);
        }
    }

    /// What is solved has the friction that slip demands, from any start.
    #[test]
    fn what_is_solved_has_its_friction(seed in 1u64..10_000, share in 0.0..1.0f64) {
        let p = Press::new(seed, 3.0, [1.0; 3]);
        let mut lambda = p.without(0, share);
        let outcome = Solver::new(Method::Auto, 1e-10).solve(p.problem(true), &mut lambda, &mut vec![]).unwrap();
        prop_assert!(outcome.is_solved(), "{:?}", outcome);
        // two sliders may share the press in many ways, but each has the friction of its load
        for k in 0..p.sliders {
            let [n, t, above, on_top, drive] = lambda[row(k)..row(k + 1)] else { unreachable!() };
            let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-6 * expected.abs();
            prop_assert!(near(t, -p.mu * n) && near(on_top, p.mu * above) && near(drive, on_top - t));
            // a normal velocity that is off by r V takes the force that stops slider and press from it in a step
            let slack = 1e-10 * p.reference[3 * k] * p.inertia;
            let load = (n - p.exact[0]).abs() <= 1e-6 * p.exact[0] + 2.0 * slack;
            prop_assert!(p.sliders > 1 || load, "{} {} {}", n, p.exact[0], slack);
        }
    }
}

/// A slider of 0.1 g under 1,000 N, driven at 1e-5 m/s: with a ten-thousandth of its friction the sums over the island are below any usual tolerance.
#[test]
fn the_light_slider_is_not_solved_with_a_ten_thousandth_of_its_friction() {
    let mut f = Factored::default();
    f.clear(2, 0.01);
    let (z, x) = (1e-4f64.sqrt().recip(), 2e-4f64.sqrt().recip());
    f.begin(2);
    f.segment(0, 2).copy_from_slice(&[0.0, z, x, 0.0]);
    f.begin(1);
    f.segment(0, 2).copy_from_slice(&[x, 0.0]);
    let a = Operator::Factored(f);
    let (elements, b) = ([Element::contact(2, 0.3, Friction::Cone), Element::Bilateral], [-1e5, 1e-5, 0.0]);
    let with = |reference| ContactProblem { reference, ..ContactProblem::new(&a, &b, &elements) };
    for reference in [&[0.01, 0.01][..], &[]] {
        let p = with(reference);
        let evaluate = |lambda: &[f64]| residual::contact(p, lambda, &mut Evaluation::default());
        let bad = evaluate(&[1000.0, -0.03, 0.03]);
        assert!(bad.natural < 1e-9 && bad.element > 2e-8, "{bad:?}");
        let good = evaluate(&[1000.0, -300.0, 300.0]);
        assert!(good.relative < 1e-14, "{good:?}");
        // a problem that does not say what is slow only reports it
        let asked = if reference.is_empty() { bad.natural } else { bad.element };
        assert_eq!(bad.relative, asked);
        if reference.is_empty() {
            continue;
        }
        for method in [Method::Auto, Method::VelocityNewton, Method::Newton, Method::ProximalNewton] {
            let mut lambda = [0.0; 3];
            let outcome = Solver::new(method, 1e-10).solve(p, &mut lambda, &mut vec![]).unwrap();
            let right = (lambda[1] + 300.0).abs() < 1e-5;
            // plain Newton may end before it, and then says so
            assert!(outcome.is_solved() == right, "{method}: {lambda:?}, {outcome:?}");
            assert!(right || method == Method::Newton || method == Method::ProximalNewton, "{method}");
        }
    }
}

/// Elements without friction and without a force are judged by what they must not do: close, pull, move.
#[test]
fn every_kind_of_element_has_its_own_residual() {
    let a = Operator::Dense(complementarity::matrix::Matrix::identity(1));
    let of = |element: Element, b: f64, lambda: f64| {
        let (b, element) = ([b], [element]);
        let p = ContactProblem { reference: &[0.5], ..ContactProblem::new(&a, &b, &element) };
        residual::contact(p, &[lambda], &mut Evaluation::default()).element
    };
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    near(of(Element::Bilateral, 0.1, 0.0), 0.2);
    near(of(Element::Bilateral, 0.1, -0.1), 0.0);
    near(of(Element::Unilateral, -0.1, 0.0), 0.2);
    near(of(Element::Unilateral, 0.1, 0.0), 0.0);
    // it pulls, and it pushes though it opens
    near(of(Element::Unilateral, 0.1, -0.1), 0.2);
    near(of(Element::Unilateral, 0.1, 0.05), 0.1);
    // beyond its bound, and with the wrong force while it moves
    near(of(Element::Bounded { limit: 1.0 }, -1.5, 1.5), 0.5 / 1.5);
    near(of(Element::Bounded { limit: 1.0 }, 0.1, 0.0), 0.2);
    near(of(Element::Bounded { limit: 1.0 }, 2.0, -1.0), 0.0);
    near(of(Element::Bounded { limit: 0.0 }, 2.0, 0.0), 0.0);
}

/// Size and direction of friction, by closed forms: what it lacks to its bound is a share, and what is not against it is a velocity.
#[test]
fn friction_is_judged_by_its_size_and_its_direction() {
    let a = Operator::Dense(complementarity::matrix::Matrix::identity(3));
    let reference = 0.5;
    let of = |friction: Friction, t: [f64; 2], slip: [f64; 2]| {
        // the bound is 0.5 * 2
        let (lambda, element) = ([2.0, t[0], t[1]], [Element::contact(3, 0.5, friction)]);
        let b = [-2.0, slip[0] - t[0], slip[1] - t[1]];
        let p = ContactProblem { reference: &[reference], ..ContactProblem::new(&a, &b, &element) };
        residual::contact(p, &lambda, &mut Evaluation::default()).element
    };
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    let cone = |t, slip| of(Friction::Cone, t, slip);
    near(cone([-1.0, 0.0], [0.1, 0.0]), 0.0);
    near(cone([0.3, 0.2], [0.0, 0.0]), 0.0);
    // a tenth is missing; where slip is slow, the contact nearly rests
    near(cone([-0.9, 0.0], [0.1, 0.0]), 0.1);
    near(cone([-0.9, 0.0], [0.01, 0.0]), 0.01 / reference);
    near(cone([-1.25, 0.0], [0.1, 0.0]), 0.2);
    // turned: the slip that is not against it, over the speed of the element or its own if that is faster
    for angle in [1e-6f64, 1e-2, 0.5] {
        let t = [-angle.cos(), -angle.sin()];
        near(cone(t, [0.1, 0.0]), 0.1 * angle.sin() / reference);
        near(cone(t, [1e-8, 0.0]), 1e-8 * angle.sin() / reference);
        near(cone(t, [5.0, 0.0]), angle.sin());
    }
    near(cone([1.0, 0.0], [5.0, 0.0]), 1.0);
    // on a square all forces of a side are against a slip across it; else the work that is missing
    let square = |t, slip| of(Friction::Pyramid, t, slip);
    near(square([-1.0, 0.4], [0.1, 0.0]), 0.0);
    near(square([-1.0, -1.0], [0.1, 0.05]), 0.0);
    near(square([-1.0, 0.4], [0.1, 0.05]), (0.15 - 0.08) / reference);
    near(square([-0.8, 0.4], [0.1, 0.0]), 0.2);
}
