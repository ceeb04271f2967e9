//! Where between two undeformed surfaces a contact force acts: `contact_point`, and chakraborty2007 (11).

use crate::running;

use running::{G, go, scene, start};
use stiction::scene::Scene;
use stiction::space::{Vector, add, cross, dot, scale, sub};
use stiction::state::State;
use stiction::step::ElementReport;
use stiction::stepper::Stepper;

fn from(text: &str) -> Scene {
    stiction::from_toml("test", text).expect("a valid scene")
}

/// A ball of 0.1 m and 1 kg that rolls along x on the ground.
fn ball(more: &str) -> String {
    format!(
        "[[world]]\nname = 'ground'\nshape = 'half_space'\nmaterial = 'ground'\n\
         [[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmaterial = 'ball'\nmass = 1\n\
         velocity = [0.5, 0, 0]\nangular_velocity = [0, 5, 0]\n{more}\n"
    )
}

/// `v / w` of a ball, and its depth in the ground.
fn arm(stepper: &mut Stepper, state: &State) -> [f64; 2] {
    let kinematics = stepper.kinematics(state);
    let (velocity, spin) = kinematics.velocity(0);
    [velocity[0] / spin[1], 0.1 - kinematics.pose(0).position[2]]
}

fn only(stepper: &Stepper) -> ElementReport {
    *stepper.elements().first().expect("a contact")
}

/// The layers of both share the overlap as they are compressed, each up to its core: a ball of 5 kg, 2000 N/m on 4000 N/m, and the same with 5 mm over the ball's core.
#[test]
fn between_two_layers_the_force_acts_where_they_meet() {
    let rolls = |thickness: f64, share: f64| {
        let text = format!(
            "[step]\nscheme = 'implicit'\nh = 5e-4\n\
             [[material]]\nname = 'ball'\nfriction = 0.8\nlaw = {{ layer = {{ stiffness = 2000, damping = 40, thickness = {thickness} }} }}\n\
             [[material]]\nname = 'ground'\nfriction = 0.8\nlaw = {{ layer = {{ stiffness = 4000, damping = 80, thickness = 0.05 }} }}\n{}",
            ball("position = [0, 0, 0.095]")
        );
        for explicit in [0.0, 0.5] {
            let mut scene = from(&text);
            scene.step.explicit_share = explicit;
            let (mut stepper, mut state) = start(scene, 5e-4);
            go(&mut stepper, &mut state, 3000, |_, _| ());
            let [r, depth] = arm(&mut stepper, &state);
            let first = only(&stepper);
            assert!((r - (0.1 - share)).abs() < 1e-6, "{thickness}, {explicit}: {r} {share}");
            assert!((first.point[2] - (share - depth)).abs() < 1e-6, "{first:?} {depth}");
        }
    };
    let force = G;
    rolls(0.05, force / 2000.0);
    assert!(force / 2000.0 > 0.002);
    rolls(0.002, 0.002);
}

/// Half-spaces with unlike moduli share the overlap as `(1 - nu^2)/E` does, as points and as patches.
#[test]
fn elastic_bodies_share_the_overlap_by_their_moduli() {
    let (e_ball, nu_ball, e_ground, nu_ground) = (1.2e5, 0.5, 3e5, 0.5);
    let compliance = |e: f64, nu: f64| (1.0 - nu * nu) / e;
    let share = compliance(e_ball, nu_ball) / (compliance(e_ball, nu_ball) + compliance(e_ground, nu_ground));
    let patch = "half_space = { elements = 7, spacing = 5.5e-3 }";
    for (law, by_pair, near) in [
        ("hertz_mindlin = { radius = 0.1, damping_time = 5e-3 }", false, 1e-6),
        ("hertz_mindlin = { radius = 0.1, damping_time = 5e-3 }", true, 1e-6),
        (patch, false, 2e-5),
    ] {
        let (own, pair) = match by_pair {
            false => (format!("law = {{ {law} }}"), String::new()),
            true => (String::new(), format!("[[pair]]\nmaterials = ['ball', 'ground']\nlaw = {{ {law} }}\n")),
        };
        let text = format!(
            "[[material]]\nname = 'ball'\nfriction = 0.8\nyoung = {e_ball}\npoisson = {nu_ball}\n\
             [[material]]\nname = 'ground'\nfriction = 0.8\nyoung = {e_ground}\npoisson = {nu_ground}\n{own}\n{pair}{}",
            ball("position = [0, 0, 0.0965]")
        );
        for (point, share) in [("", share), ("middle", 0.5)] {
            let more = if point.is_empty() { String::new() } else { format!("contact_point = '{point}'\n") };
            let (mut stepper, mut state) = start(from(&format!("{more}{text}")), 1e-3);
            let (mut sum, mut expected, mut count) = (0.0, 0.0, 0.0);
            go(&mut stepper, &mut state, 1000, |stepper, state| {
                if state.time > 0.8 {
                    let [r, depth] = arm(stepper, state);
                    (sum, expected, count) = (sum + r, expected + 0.1 - share * depth, count + 1.0);
                }
            });
            let (found, expected): (f64, f64) = (sum / count, expected / count);
            println!("{law} {point}: {found} {expected}");
            assert!(expected < 0.099 && (found - expected).abs() < near, "{law} {point}: {found} {expected}");
        }
    }
}

/// `first` and `second` are those that the pair lists, whichever way, and a pair of bodies goes before one of materials, and that before the scene.
#[test]
fn first_and_second_are_as_the_pair_lists_them() {
    let height = |more: &str| {
        let text = format!(
            "[[material]]\nname = 'ball'\n[[material]]\nname = 'ground'\nlaw = {{ kelvin_voigt = {{ stiffness = 981, damping = 60 }} }}\n{}",
            ball("position = [0, 0, 0.09]")
        );
        let top =
            if more.starts_with("contact_point") { format!("{more}{text}") } else { format!("{text}{more}") };
        let (mut stepper, mut state) = start(from(&top), 1e-3);
        go(&mut stepper, &mut state, 1, |_, _| ());
        (1e3 * only(&stepper).point[2]).round()
    };
    let pair = |list: &str, point: &str| format!("[[pair]]\n{list}\ncontact_point = '{point}'\n");
    let bodies = |point: &str| pair("bodies = ['ball', 'ground']", point);
    let turned = |point: &str| pair("bodies = ['ground', 'ball']", point);
    let materials = |point: &str| pair("materials = ['ball', 'ground']", point);
    // 10 mm deep: the ball's lowest point, the middle, the ground
    assert_eq!(
        [height(&bodies("first")), height(&bodies("middle")), height(&bodies("second"))],
        [-10.0, -5.0, 0.0]
    );
    assert_eq!([height(&turned("first")), height(&turned("second"))], [0.0, -10.0]);
    assert_eq!([height(&materials("first")), height(&materials("second"))], [-10.0, 0.0]);
    assert_eq!([height(""), height("contact_point = 'middle'\n")], [-10.0, -5.0]);
    assert_eq!(height(&format!("{}{}", materials("second"), bodies("first"))), -10.0);
    assert_eq!(height(&format!("contact_point = 'middle'\n{}", bodies("second"))), 0.0);
    // a pair's law does not say who is soft
    let law =
        "[[pair]]\nbodies = ['ball', 'ground']\nlaw = { kelvin_voigt = { stiffness = 981, damping = 60 } }\n";
    assert_eq!([height(law), height(&format!("{law}contact_point = 'first'\n"))], [-5.0, -10.0]);
}

/// chakraborty2007 (11) in its second example: the contact point lies on the ellipsoid, `f(a_1) = 0`, and the layer is compressed to it.
#[test]
fn the_point_of_the_paper_lies_on_the_rigid_body() {
    for name in ["ellipsoid-tilted", "ellipsoid-tilted-core", "ellipsoid-core"] {
        let (mut stepper, mut state) = start(scene(&format!("chakraborty2007/{name}.toml")), 1e-4);
        let (mut closed, mut farthest) = (0, 0.0f64);
        go(&mut stepper, &mut state, 3000, |stepper, state| {
            let Some(e) = stepper.elements().iter().find(|e| e.force[0] > 0.0).copied() else { return };
            let at = stepper.kinematics(state).pose(0).local(e.point);
            let f = (at[0] / 0.25).powi(2) + (at[1] / 0.005).powi(2) + (at[2] / 0.005).powi(2) - 1.0;
            // the length of the gradient is about 2 / 0.005
            farthest = farthest.max((f * 0.0025).abs()).max((e.point[2] + e.deformation[0]).abs());
            closed += 1;
        });
        println!("{name}: {closed} steps in contact, {farthest:e} m");
        assert!(closed > 100 && farthest < 1e-9, "{name}: {closed} {farthest:e}");
    }
}

/// The ellipsoid of chakraborty2007, second example, without torsion: Newton and Euler, and at its lowest point the spring and damper of (10) in the normal direction
/// and along the tangents, held within the friction cone.
struct Ellipsoid {
    place: Vector,
    axes: [Vector; 3],
    v: Vector,
    spin: Vector,
    delta: Vector,
    closed: bool,
    /// Share of the depth by which the force acts above the lowest point.
    above: f64,
    damping: [f64; 2],
}

const SEMI: [f64; 3] = [0.25, 0.005, 0.005];
const STIFFNESS: [f64; 2] = [36000.0, 8000.0];
const MU: f64 = 0.4;

impl Ellipsoid {
    fn step(&mut self, h: f64) {
        let down: Vector = [0.0, 0.0, -1.0];
        let along = self.axes.map(|a| dot(a, down));
        let size = (0..3).map(|i| (SEMI[i] * along[i]).powi(2)).sum::<f64>().sqrt();
        let lowest = (0..3)
            .fold([0.0; 3], |sum, i| add(sum, scale(SEMI[i] * SEMI[i] * along[i] / size, self.axes[i])));
        let depth = -(self.place[2] + lowest[2]);
        let r = add(lowest, [0.0, 0.0, self.above * depth]);
        let at = add(self.v, cross(self.spin, r));
        let mut force = [0.0; 3];
        if depth >= self.delta[2] || self.closed {
            let normal = STIFFNESS[0] * depth - self.damping[0] * at[2];
            self.closed = normal > 0.0;
            if self.closed {
                let trial = [0, 1].map(|i| STIFFNESS[1] * self.delta[i] - self.damping[1] * at[i]);
                let most = MU * normal / trial[0].hypot(trial[1]).max(1e-300);
                force = [trial[0] * most.min(1.0), trial[1] * most.min(1.0), normal];
            }
        }
        for i in 0..2 {
            self.delta[i] += h * (force[i] - STIFFNESS[1] * self.delta[i]) / self.damping[1];
        }
        self.delta[2] -= h * STIFFNESS[0] / self.damping[0] * self.delta[2];
        // M = 1 kg
        self.v = add(self.v, scale(h, add(force, [0.0, 0.0, -G])));
        let moment = cross(r, force);
        let inertia = [0, 1, 2].map(|i| 0.2 * (SEMI[(i + 1) % 3].powi(2) + SEMI[(i + 2) % 3].powi(2)));
        let (w, m) = (self.axes.map(|a| dot(a, self.spin)), self.axes.map(|a| dot(a, moment)));
        let rate = [0, 1, 2].map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            (m[i] + (inertia[j] - inertia[k]) * w[j] * w[k]) / inertia[i]
        });
        let change = (0..3).fold([0.0; 3], |sum, i| add(sum, scale(rate[i], self.axes[i])));
        self.spin = add(self.spin, scale(h, change));
        self.place = add(self.place, scale(h, self.v));
        self.axes = self.axes.map(|a| {
            add(
                a,
                add(scale(h, cross(self.spin, a)), scale(0.5 * h * h, cross(self.spin, cross(self.spin, a)))),
            )
        });
        if self.closed {
            self.delta[2] = -(self.place[2] + lowest[2]);
        }
    }
}

/// Velocity and spin of the tilted ellipsoid at a time, by an integration with these steps.
fn integrated(above: f64, until: f64, h: f64) -> [Vector; 2] {
    let half = 2.0 * 0.0872f64.atan2(0.9962);
    let (s, c) = half.sin_cos();
    let mut own = Ellipsoid {
        place: [0.0, 0.0, 0.15],
        axes: [[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]],
        v: [0.0; 3],
        spin: [0.0, 0.0, 5.0],
        delta: [0.0; 3],
        closed: false,
        above,
        damping: [2.0 * STIFFNESS[0].sqrt(), 2.0 * STIFFNESS[1].sqrt()],
    };
    (0..(until / h).round() as usize).for_each(|_| own.step(h));
    [own.v, own.spin]
}

#[test]
fn the_second_example_of_the_paper_moves_as_its_equation_11_has_it() {
    let until = 0.3;
    let engine = |point: &str, h: f64| {
        let mut scene = scene("chakraborty2007/ellipsoid-tilted.toml");
        scene.materials.iter_mut().for_each(|m| m.torsion = 0.0);
        scene.set("contact_point", point).unwrap();
        let (mut stepper, mut state) = start(scene, h);
        go(&mut stepper, &mut state, (until / h).round() as usize, |_, _| ());
        let (v, spin) = stepper.kinematics(&state).velocity(0);
        [v, spin]
    };
    let apart = |a: &[Vector; 2], b: &[Vector; 2]| {
        let of = |k: usize| dot(sub(a[k], b[k]), sub(a[k], b[k])).sqrt();
        of(0) + 0.25 * of(1)
    };
    // both are of first order: extrapolated to steps of length 0
    let limit = |coarse: [Vector; 2], fine: [Vector; 2]| [0, 1].map(|k| sub(scale(2.0, fine[k]), coarse[k]));
    let found = [("compliance", 0.0), ("middle", 0.5)].map(|(point, above)| {
        let own = limit(integrated(above, until, 2e-6), integrated(above, until, 1e-6));
        let engine = limit(engine(point, 2e-5), engine(point, 1e-5));
        println!("{point}: {own:?}, the engine {engine:?}: {:e} apart", apart(&own, &engine));
        (own, engine)
    });
    let choice = apart(&found[0].0, &found[1].0);
    println!("the two places: {choice:e} apart");
    assert!(choice > 0.5);
    for (own, engine) in found {
        assert!(apart(&own, &engine) < 0.02 * choice, "{own:?} {engine:?}");
    }
}
