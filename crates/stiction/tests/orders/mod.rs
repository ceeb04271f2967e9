//! Scenes whose error is measured over the step h, and the measurement.

use stiction::scene::ForceTime;
use stiction::stepper::Stepper;

/// What is stepped, and to when, s.
pub struct Case {
    pub name: &'static str,
    pub scene: &'static str,
    pub end: f64,
}

/// A mass of 1 kg on a spring, 10 rad/s.
pub const SPRING: Case = Case {
    name: "mass on a spring",
    end: 0.4,
    scene: "
planar = true
gravity = [0, 0]
[[body]]
name = 'mass'
joint = { prismatic = { axis = [1, 0] } }
mass = 1
inertia = 1
position = 0.1
[[spring]]
from = { point = [-1, 0] }
to = { body = 'mass' }
stiffness = 100
rest_length = 1
",
};

/// A rod about one end, from 45 degrees: its mass does not depend on its place.
pub const PENDULUM: Case = Case {
    name: "pendulum",
    end: 0.4,
    scene: "
planar = true
[[body]]
name = 'rod'
joint = { revolute = {} }
mass = 1
center = [0, -0.5]
inertia = 0.08333333333333333
angle_deg = 45
",
};

/// Two rods: the mass matrix depends on the angle between them.
pub const DOUBLE_PENDULUM: Case = Case {
    name: "double pendulum",
    end: 0.4,
    scene: "
planar = true
[[body]]
name = 'upper'
joint = { revolute = {} }
mass = 1
center = [0, -0.5]
inertia = 0.08333333333333333
angle_deg = 45
[[body]]
name = 'lower'
parent = 'upper'
joint = { revolute = {} }
mount = { position = [0, -1] }
mass = 1
center = [0, -0.5]
inertia = 0.08333333333333333
angle_deg = 30
",
};

/// A ball falls 20 mm onto a damped spring, slides, and rises again.
pub const SPHERE: Case = Case {
    name: "compliant ball, drop and slide",
    end: 0.2,
    scene: "
[[material]]
name = 'default'
friction = 0.3
law = { kelvin_voigt = { stiffness = [1e4, 8e3], damping = [20, 20] } }
[[world]]
name = 'ground'
shape = 'half_space'
[[body]]
name = 'ball'
mass = 1
shape = { sphere = { radius = 0.1 } }
position = [0, 0, 0.12]
velocity = [1, 0, 0]
",
};

/// The same ball, pressed in from the start, sticking: no event.
pub const PRESSED: Case = Case {
    name: "compliant ball, pressed, no event",
    end: 0.04,
    scene: "
[[material]]
name = 'default'
friction = 0.3
law = { kelvin_voigt = { stiffness = [1e4, 8e3], damping = [20, 20] } }
[[world]]
name = 'ground'
shape = 'half_space'
[[body]]
name = 'ball'
mass = 1
shape = { sphere = { radius = 0.1 } }
position = [0, 0, 0.1]
velocity = [0, 0, -0.05]
",
};

/// A box on four round feet, tilted, falls a little, slides and turns.
pub const BOX: Case = Case {
    name: "box on four compliant feet",
    end: 0.2,
    scene: "
[[material]]
name = 'default'
friction = 0.3
law = { kelvin_voigt = { stiffness = [4e3, 3e3], damping = [20, 20] } }
[[world]]
name = 'ground'
shape = 'half_space'
[[body]]
name = 'box'
mass = 1
inertia = [4e-3, 5e-3, 6e-3]
position = [0, 0, 0.062]
orientation = { axis = [1, 2, 0], angle_deg = 2 }
velocity = [0.5, 0.2, 0]
angular_velocity = [0, 0, 2]
[[body.part]]
shape = { sphere = { radius = 0.02 } }
position = [0.1, 0.08, -0.03]
[[body.part]]
shape = { sphere = { radius = 0.02 } }
position = [-0.1, 0.08, -0.03]
[[body.part]]
shape = { sphere = { radius = 0.02 } }
position = [0.1, -0.08, -0.03]
[[body.part]]
shape = { sphere = { radius = 0.02 } }
position = [-0.1, -0.08, -0.03]
",
};

/// Coordinates at the end, and the rounds of implicit forces a step.
pub fn end(case: &Case, theta: f64, forces: ForceTime, h: f64) -> (Vec<f64>, f64) {
    let mut scene = stiction::from_toml(case.name, case.scene).expect("a valid scene");
    (scene.step.h, scene.step.explicit_share, scene.step.forces) = (h, theta, Some(forces));
    let mut stepper = Stepper::new(scene).expect("a valid model");
    let mut state = stepper.initial();
    let (steps, mut rounds) = ((case.end / h).round() as usize, 0);
    for _ in 0..steps {
        let report = stepper.step(&mut state).expect("no step fails");
        assert!(report.parts <= 1, "a step was cut");
        rounds += report.rounds;
    }
    (state.position, rounds as f64 / steps as f64)
}

/// Coordinates at the end, from steps of 2e-6 and 4e-6 s (theta = 1/2, implicit forces): extrapolated, for the error is of
/// first order.
pub fn reference(case: &Case) -> Vec<f64> {
    let [fine, coarse] = [2e-6, 4e-6].map(|h| end(case, 0.5, ForceTime::Theta, h).0);
    fine.iter().zip(coarse).map(|(f, c)| 2.0 * f - c).collect()
}

/// Largest difference of a coordinate, m or rad.
pub fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| (a - b).abs().max(m))
}

/// Slope of the errors over h, both as logarithms: least squares.
pub fn order(h: &[f64], error: &[f64]) -> f64 {
    let n = h.len() as f64;
    let mean = |x: &[f64]| x.iter().map(|x| x.ln()).sum::<f64>() / n;
    let (mh, me) = (mean(h), mean(error));
    let with = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        h.iter().zip(error).map(|(h, e)| f(h.ln() - mh, e.ln() - me)).sum()
    };
    with(&|x, y| x * y) / with(&|x, _| x * x)
}
