//! Links that make no system are refused with the link and the value.

use stiction::dynamics::{InvalidSystem, Joint, Kinematics, Link, MassMatrix, SingularMass, System};
use stiction::space::Quaternion;

use crate::dynamics::scenes::link;

fn body() -> Link {
    link(None, [0.0; 3], Joint::Free, 1.0, [0.0; 3], [1.0, 2.0, 2.5])
}

fn refusal(links: Vec<Link>) -> InvalidSystem {
    System::new(links).unwrap_err()
}

#[test]
fn bad_links_are_named_with_the_bad_value() {
    let with = |change: fn(&mut Link)| {
        let mut bad = body();
        change(&mut bad);
        refusal(vec![body(), bad])
    };
    assert_eq!(with(|l| l.parent = Some(1)), InvalidSystem::Parent { link: 1, parent: 1 });
    assert_eq!(with(|l| l.parent = Some(0)), InvalidSystem::FreeOnMoving { link: 1, parent: 0 });
    assert_eq!(with(|l| l.inertia.mass = -2.0), InvalidSystem::Mass { link: 1, mass: -2.0 });
    let infinite = InvalidSystem::NotFinite { link: 1, what: "center of mass", value: f64::INFINITY };
    assert_eq!(with(|l| l.inertia.center[1] = f64::INFINITY), infinite);
    assert!(matches!(with(|l| l.inertia.mass = f64::NAN), InvalidSystem::NotFinite { link: 1, .. }));
    assert!(matches!(with(|l| l.inertia.tensor[0][0] = 0.0), InvalidSystem::Tensor { link: 1, .. }));
    assert!(matches!(with(|l| l.inertia.tensor[0][1] = 0.5), InvalidSystem::Tensor { link: 1, .. }));
    let axis = [0.0, 0.0, 2.0];
    let long = with(|l| l.joint = Joint::Revolute { axis: [0.0, 0.0, 2.0] });
    assert_eq!(long, InvalidSystem::Axis { link: 1, axis, length: 2.0 });
    let attitude = with(|l| l.mount.attitude = Quaternion([0.0; 4]));
    assert_eq!(attitude, InvalidSystem::Attitude { link: 1, attitude: [0.0; 4], length: 0.0 });
    assert_eq!(attitude.to_string(), "link 1: mount attitude [0.0, 0.0, 0.0, 0.0] has length 0, not 1");
}

fn gimbal(axes: [[f64; 3]; 3], masses: [f64; 3]) -> Result<System, InvalidSystem> {
    let ring = |i: usize| {
        let moments = [masses[i]; 3];
        let joint = Joint::Revolute { axis: axes[i] };
        link(i.checked_sub(1), [0.0; 3], joint, masses[i], [0.0; 3], moments)
    };
    System::new((0..3).map(ring).collect())
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

#[test]
fn links_without_mass_are_taken_where_what_they_carry_resists() {
    let system = gimbal([Z, Y, X], [0.0, 0.0, 1.0]).unwrap();
    let tip = gimbal([Z, Y, X], [1.0, 1.0, 0.0]).unwrap_err();
    assert_eq!(tip, InvalidSystem::NoInertia { link: 2, pivot: 0.0 });
    let same_axis = gimbal([Z, Z, X], [0.0, 0.0, 1.0]).unwrap_err();
    assert!(matches!(same_axis, InvalidSystem::NoInertia { link: 0, .. }), "{same_axis}");
    // singular at the neutral configuration alone
    assert!(gimbal([Z, Y, Z], [0.0, 0.0, 1.0]).is_ok());
    // gimbal lock is found when it is met
    let mut kinematics = Kinematics::new(&system);
    kinematics.update(&[0.0, std::f64::consts::FRAC_PI_2, 0.0], &[0.0; 3]);
    let lock: SingularMass = MassMatrix::new(&system).update(&kinematics).unwrap_err();
    assert_eq!(lock.link, 0);
}

#[test]
fn a_free_link_without_mass_needs_a_heavy_link_fixed_to_it() {
    let mut empty = body();
    empty.inertia.mass = 0.0;
    empty.inertia.tensor = [[0.0; 3]; 3];
    assert!(matches!(refusal(vec![empty]), InvalidSystem::NoInertia { link: 0, .. }));
    let mut fixed = body();
    (fixed.parent, fixed.joint) = (Some(0), Joint::Fixed);
    assert!(System::new(vec![empty, fixed]).is_ok());
    let mut plate = empty;
    (plate.parent, plate.joint) = (None, Joint::Fixed);
    let system = System::new(vec![plate, fixed]).unwrap();
    assert_eq!((system.velocity_size(), system.trees().len(), system.tree_of(1)), (0, 0, None));
}
