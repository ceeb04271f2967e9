//! A step of the dynamics allocates nothing once its buffers are made.

#[path = "../../complementarity/tests/allocations/mod.rs"]
mod allocations;

use allocations::count;
use stiction::dynamics::{Inertia, Joint, Kinematics, Link, MassMatrix, System};
use stiction::space::Pose;

#[test]
fn a_step_allocates_nothing() {
    let axis = [0.0, 0.0, 1.0];
    let joints = [
        (None, Joint::Free),
        (Some(0), Joint::Revolute { axis }),
        (Some(1), Joint::Spherical),
        (Some(1), Joint::Planar),
        (Some(3), Joint::Fixed),
        (None, Joint::Prismatic { axis }),
        (None, Joint::Free),
    ];
    let tensor = [[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]];
    let inertia = Inertia { mass: 1.0, center: [0.1, 0.0, 0.2], tensor };
    let links = joints.map(|(parent, joint)| Link { parent, mount: Pose::IDENTITY, joint, inertia });
    let system = System::new(links.to_vec()).unwrap();
    let (mut kinematics, mut mass) = (Kinematics::new(&system), MassMatrix::new(&system));
    let mut q = system.neutral_configuration();
    let mut next = q.clone();
    let mut v = vec![0.1; system.velocity_size()];
    let (mut f, mut row) = (v.clone(), v.clone());
    let before = count();
    for _ in 0..10 {
        kinematics.update(&q, &v);
        mass.update(&kinematics).unwrap();
        kinematics.bias([0.0, 0.0, -9.81], &mut f);
        kinematics.add_wrench(4, [0.0; 3], [1.0; 3], [1.0; 3], &mut f);
        kinematics.jacobian_row(4, [0.0; 3], axis, 1.0, &mut row);
        mass.solve(&mut f);
        mass.multiply(&f, &mut row);
        for (v, a) in v.iter_mut().zip(&f) {
            *v += 1e-3 * a;
        }
        system.advance(&q, &v, 1e-3, &mut next);
        std::mem::swap(&mut q, &mut next);
    }
    assert_eq!(count(), before);
}
