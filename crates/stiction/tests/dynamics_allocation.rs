//! A step of the dynamics allocates nothing once its buffers are made.
#![allow(unsafe_code, reason = "a global allocator that counts can only be written so")]

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::sync::atomic::{AtomicUsize, Ordering};

use stiction::dynamics::{Inertia, Joint, Kinematics, Link, MassMatrix, System};
use stiction::space::Pose;

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every request goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
    let before = COUNT.load(Ordering::Relaxed);
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
    assert_eq!(COUNT.load(Ordering::Relaxed), before);
}
