//! Layout of a system: links in bodies and trees, coordinates in `q`, velocities in `v`.
//!
//! Links that are fixed to one another move as one *body*, which has their common inertia. A *tree* is what
//! one moving root carries: links fixed to the world connect nothing. The coordinates and velocities of a
//! tree are contiguous, whatever the order of the links.

use std::ops::Range;
use std::sync::Arc;

use super::spatial::Symmetric;
use super::valid::check;
use super::{Inertia, InvalidSystem, Joint, Kinematics, Link, MassMatrix};
use crate::space::{Pose, Quaternion, Tensor, add, inverse_spd, root_spd, scale, sub};

/// Links on joints, checked. Copies share their data.
#[derive(Debug, Clone)]
pub struct System {
    pub(super) model: Arc<Model>,
}

/// What one moving root link carries. Trees share no entry of the mass matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Links, in order.
    pub links: Vec<usize>,
    /// Range of the tree's coordinates in `q`.
    pub coordinates: Range<usize>,
    /// Range of the tree's velocities in `v`.
    pub dofs: Range<usize>,
    pub(super) bodies: Range<usize>,
    /// Whether the root is on a free joint.
    pub(super) free: bool,
    /// Whether its mass matrix is never written out, for its chains are long ([`super::articulated`]).
    pub(super) long: bool,
    /// Whether the tree is one body whose mass matrix is constant: without forces its velocities stay.
    pub even: bool,
}

impl Tree {
    /// Whether the tree is one free body.
    pub fn is_free_body(&self) -> bool {
        self.free && self.bodies.len() == 1
    }
}

/// What a tree stands on, in order of how firmly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Footing {
    /// Joints that are fixed to the world.
    World,
    /// Nothing, but it has joints.
    Afloat,
    /// Nothing: it is one body.
    Alone,
}

/// A moving link and the links fixed to it.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub link: usize,
    pub parent: Option<usize>,
    pub tree: usize,
    pub joint: Joint,
    /// Pose of the joint in the coordinates of the parent body, or of the world.
    pub mount: Pose,
    pub inertia: Inertia,
    /// Factor `K'` with `K K'` the inverse of the inertia tensor; zero if there is none.
    pub root: Tensor,
    /// Offsets of the body's coordinates and velocities.
    pub q: usize,
    pub v: usize,
    /// Range of the body's chain in [`Model::chains`].
    pub chain: Range<usize>,
}

impl Body {
    pub fn coordinates(&self) -> Range<usize> {
        self.q..self.q + self.joint.configuration_size()
    }

    pub fn dofs(&self) -> Range<usize> {
        self.v..self.v + self.joint.velocity_size()
    }

    /// Whether the mass matrix of the body alone, on a mount at rest, is constant.
    fn is_even(&self) -> bool {
        let Inertia { center, tensor, .. } = self.inertia;
        let moment = tensor[0][0];
        let round = tensor == [[moment, 0.0, 0.0], [0.0, moment, 0.0], [0.0, 0.0, moment]];
        match self.joint {
            Joint::Revolute { .. } | Joint::Prismatic { .. } | Joint::Screw { .. } | Joint::Fixed => true,
            // split into two bodies
            Joint::Cylindrical { .. } | Joint::Universal { .. } => false,
            Joint::Planar => center == [0.0; 3],
            Joint::Free | Joint::Spherical => center == [0.0; 3] && round,
        }
    }
}

/// A row of the mass matrix: its entries are at the dofs that move the row's own, root first, itself last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Index of the first entry.
    pub start: usize,
    /// Number of dofs above its own.
    pub depth: usize,
    /// Start of its dofs in [`Model::chains`].
    pub chain: usize,
    pub body: usize,
}

#[derive(Debug)]
pub(super) struct Model {
    pub links: Vec<Link>,
    /// Body of each link, `None` if it is fixed to the world, and the link's pose in that body or the world.
    pub places: Vec<(Option<usize>, Pose)>,
    /// Bodies, tree by tree, parents first.
    pub bodies: Vec<Body>,
    pub trees: Vec<Tree>,
    /// For each body, the dofs that move it.
    pub chains: Vec<usize>,
    pub rows: Vec<Row>,
    pub configuration_size: usize,
    /// Inertia of drives, seen at each degree of freedom: it adds to the diagonal of the mass matrix.
    pub armature: Vec<f64>,
}

impl System {
    /// Checks the links and lays them out.
    ///
    /// # Errors
    /// The first invalid link, with the invalid value.
    pub fn new(links: Vec<Link>) -> Result<Self, InvalidSystem> {
        Self::with_armature(links, &[])
    }

    /// The same with the inertia of drives, seen at the degrees of freedom of each link's joint, kg or kg m^2;
    /// links beyond the list have none.
    ///
    /// # Errors
    /// The first invalid link, with the invalid value.
    pub fn with_armature(links: Vec<Link>, armature: &[Vec<f64>]) -> Result<Self, InvalidSystem> {
        let mut places: Vec<(Option<usize>, Pose)> = Vec::with_capacity(links.len());
        let mut bodies: Vec<Body> = Vec::new();
        let mut trees = 0;
        for (i, link) in links.iter().enumerate() {
            check(i, link)?;
            let (parent, inner) = link.parent.map_or((None, Pose::IDENTITY), |p| places[p]);
            let mut mount = inner.then(&link.mount);
            mount.attitude = mount.attitude.unit();
            if link.joint == Joint::Fixed {
                places.push((parent, mount));
                continue;
            }
            if let (Joint::Free, Some(_), Some(parent)) = (link.joint, parent, link.parent) {
                return Err(InvalidSystem::FreeOnMoving { link: i, parent });
            }
            let tree = parent.map_or(trees, |p| bodies[p].tree);
            trees = trees.max(tree + 1);
            let (first, joint) = link.joint.with_unit_axis().split();
            let body = |parent, joint, mount, inertia| Body {
                link: i,
                parent,
                tree,
                joint,
                mount,
                inertia,
                root: [[0.0; 3]; 3],
                q: 0,
                v: 0,
                chain: 0..0,
            };
            let mut parent = parent;
            if let Some(first) = first {
                let nothing = Inertia { mass: 0.0, center: [0.0; 3], tensor: [[0.0; 3]; 3] };
                bodies.push(body(parent, first, mount, nothing));
                (parent, mount) = (Some(bodies.len() - 1), Pose::IDENTITY);
            }
            places.push((Some(bodies.len()), Pose::IDENTITY));
            bodies.push(body(parent, joint, mount, link.inertia));
        }
        group_by_tree(&mut bodies, &mut places);
        for (i, link) in links.iter().enumerate().filter(|(_, l)| l.joint == Joint::Fixed) {
            if let (Some(body), place) = places[i] {
                bodies[body].inertia = together(&bodies[body].inertia, &moved(&link.inertia, &place));
            }
        }
        for body in &mut bodies {
            body.root = inverse_spd(&body.inertia.tensor).map(|m| root_spd(&m)).unwrap_or_default();
        }
        let mut model = Model::new(links, places, bodies, trees);
        model.armature = vec![0.0; model.rows.len()];
        for (link, own) in armature.iter().enumerate().take(model.links.len()) {
            let dofs = model.dofs(link);
            model.armature[dofs].iter_mut().zip(own).for_each(|(all, own)| *all = *own);
        }
        let system = Self { model: Arc::new(model) };
        system.check_inertia()?;
        Ok(system)
    }

    /// A body without mass may carry others whose inertia resists its joint, or not; only the mass matrix
    /// shows it, and it may be singular only in special configurations. So two configurations are tried, one
    /// of them without symmetry.
    fn check_inertia(&self) -> Result<(), InvalidSystem> {
        if self.model.bodies.iter().all(|b| b.inertia.mass > 0.0) {
            return Ok(());
        }
        let neutral = self.neutral_configuration();
        let velocities: Vec<f64> = (0..self.velocity_size()).map(|i| (0.7 + 1.3 * i as f64).sin()).collect();
        let mut turned = neutral.clone();
        self.advance(&neutral, &velocities, 1.0, &mut turned);
        let (mut kinematics, mut mass) = (Kinematics::new(self), MassMatrix::new(self));
        if mass.update(&kinematics).is_err() {
            kinematics.update(&turned, &velocities);
            mass.update(&kinematics)?;
        }
        Ok(())
    }

    /// The links as they were given.
    pub fn links(&self) -> &[Link] {
        &self.model.links
    }

    /// Inertia of drives, seen at each degree of freedom.
    pub fn armature(&self) -> &[f64] {
        &self.model.armature
    }

    /// The trees; links fixed to the world are in none.
    pub fn trees(&self) -> &[Tree] {
        &self.model.trees
    }

    /// The tree a link belongs to; `None` if it is fixed to the world.
    pub fn tree_of(&self, link: usize) -> Option<usize> {
        self.model.places[link].0.map(|b| self.model.bodies[b].tree)
    }

    /// What a tree stands on.
    pub fn footing(&self, tree: usize) -> Footing {
        let Tree { bodies, .. } = &self.model.trees[tree];
        match self.model.bodies[bodies.start].joint {
            Joint::Free | Joint::Planar if bodies.len() == 1 => Footing::Alone,
            Joint::Free | Joint::Planar => Footing::Afloat,
            _ => Footing::World,
        }
    }

    /// Length of `q`.
    pub fn configuration_size(&self) -> usize {
        self.model.configuration_size
    }

    /// Length of `v`.
    pub fn velocity_size(&self) -> usize {
        self.model.rows.len()
    }

    /// Range in `q` of the coordinates of a link's own joint; empty for a fixed joint.
    pub fn coordinates(&self, link: usize) -> Range<usize> {
        self.model.own_bodies(link).map_or(0..0, |[first, last]| first.q..last.coordinates().end)
    }

    /// Range in `v` of the velocities of a link's own joint; empty for a fixed joint.
    pub fn dofs(&self, link: usize) -> Range<usize> {
        self.model.dofs(link)
    }

    /// The dofs that move a link, from the root to its own, ascending.
    pub fn chain(&self, link: usize) -> &[usize] {
        self.model.places[link].0.map_or(&[], |b| &self.model.chains[self.model.bodies[b].chain.clone()])
    }

    /// Configuration with all joints at zero and all quaternions at the identity.
    pub fn neutral_configuration(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.configuration_size()];
        for body in &self.model.bodies {
            if let Some(at) = body.joint.quaternion() {
                q[body.q + at] = 1.0;
            }
        }
        q
    }

    /// Advances the configuration: `q+ = q + h G(q) v`. Attitudes rotate by the exponential map of `h` times
    /// the angular velocity, and are scaled to length 1.
    ///
    /// # Panics
    /// If the length of a slice is not the system's.
    pub fn advance(&self, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
        let size = self.configuration_size();
        assert_eq!((q.len(), out.len()), (size, size), "length of q");
        assert_eq!(v.len(), self.velocity_size(), "length of v");
        for body in &self.model.bodies {
            let own = body.coordinates();
            body.joint.advance(&body.mount, &q[own.clone()], &v[body.dofs()], h, &mut out[own]);
        }
    }

    /// Rate of the configuration: `q' = G(q) v`.
    ///
    /// # Panics
    /// If the length of a slice is not the system's.
    pub fn rate(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        assert_eq!(
            (q.len(), out.len()),
            (self.configuration_size(), self.configuration_size()),
            "length of q"
        );
        assert_eq!(v.len(), self.velocity_size(), "length of v");
        for body in &self.model.bodies {
            let own = body.coordinates();
            body.joint.rate(&body.mount, &q[own.clone()], &v[body.dofs()], &mut out[own]);
        }
    }

    /// Scales the quaternions of a configuration to length 1.
    pub fn scale_attitudes(&self, q: &mut [f64]) {
        for body in &self.model.bodies {
            if let Some(at) = body.joint.quaternion() {
                let own = &mut q[body.q + at..][..4];
                own.copy_from_slice(&Quaternion([own[0], own[1], own[2], own[3]]).unit().0);
            }
        }
    }
}

impl Model {
    /// Lays out bodies that are grouped by tree.
    fn new(
        links: Vec<Link>,
        places: Vec<(Option<usize>, Pose)>,
        mut bodies: Vec<Body>,
        trees: usize,
    ) -> Self {
        let mut trees = vec![
            Tree {
                links: Vec::new(),
                coordinates: 0..0,
                dofs: 0..0,
                bodies: 0..0,
                free: false,
                long: false,
                even: false
            };
            trees
        ];
        let long = long_trees(&bodies, trees.len());
        let (mut chains, mut rows, mut q) = (Vec::new(), Vec::new(), 0);
        let mut entries = 0;
        for b in 0..bodies.len() {
            let v = rows.len();
            let joint = bodies[b].joint;
            let (coordinates, dofs) = (joint.configuration_size(), joint.velocity_size());
            let tree = &mut trees[bodies[b].tree];
            if bodies[b].parent.is_none() {
                *tree = Tree {
                    links: Vec::new(),
                    coordinates: q..q,
                    dofs: v..v,
                    bodies: b..b,
                    free: joint == Joint::Free,
                    long: long[bodies[b].tree],
                    even: bodies[b].is_even(),
                };
            }
            tree.even &= bodies[b].parent.is_none();
            (tree.coordinates.end, tree.dofs.end, tree.bodies.end) = (q + coordinates, v + dofs, b + 1);

            let chain = chains.len();
            if let Some(p) = bodies[b].parent {
                chains.extend_from_within(bodies[p].chain.clone());
            }
            for i in v..v + dofs {
                let depth = chains.len() - chain;
                rows.push(Row { start: entries, depth, chain, body: b });
                chains.push(i);
                // long chains store no rows
                entries += if long[bodies[b].tree] { 0 } else { depth + 1 };
            }
            (bodies[b].q, bodies[b].v, bodies[b].chain) = (q, v, chain..chains.len());
            q += coordinates;
        }
        for (i, place) in places.iter().enumerate() {
            if let Some(b) = place.0 {
                trees[bodies[b].tree].links.push(i);
            }
        }
        Self { links, places, bodies, trees, chains, rows, configuration_size: q, armature: vec![] }
    }

    /// First and last body of a link's own joint, which are the same but for joints that are split; `None` for a fixed
    /// joint.
    fn own_bodies(&self, link: usize) -> Option<[&Body; 2]> {
        let last = self.places[link].0.map(|b| &self.bodies[b]).filter(|b| b.link == link)?;
        let first = last.parent.map(|p| &self.bodies[p]).filter(|b| b.link == link).unwrap_or(last);
        Some([first, last])
    }

    /// Range in `v` of a link's own joint.
    fn dofs(&self, link: usize) -> Range<usize> {
        self.own_bodies(link).map_or(0..0, |[first, last]| first.v..last.dofs().end)
    }

    /// Number of stored entries of the mass matrix.
    pub fn entries(&self) -> usize {
        let last = self.rows.last().map(|r| (r, self.trees[self.bodies[r.body].tree].long));
        last.map_or(0, |(r, long)| if long { r.start } else { r.start + r.depth + 1 })
    }

    /// Row `i` and the dofs of its entries.
    pub fn row(&self, i: usize) -> (Row, &[usize]) {
        let row = self.rows[i];
        (row, &self.chains[row.chain..=row.chain + row.depth])
    }
}

/// Mean number of dofs above a dof from which on the mass matrix of a tree is not written out: sweeps along the tree are then faster than rows.
const LONG: usize = 100;

/// Which trees are long chains.
fn long_trees(bodies: &[Body], trees: usize) -> Vec<bool> {
    let (mut above, mut sums) = (vec![0; bodies.len()], vec![(0, 0); trees]);
    for (b, body) in bodies.iter().enumerate() {
        let own = body.joint.velocity_size();
        let before = body.parent.map_or(0, |p| above[p]);
        above[b] = before + own;
        let (entries, dofs) = &mut sums[body.tree];
        *entries += own * before;
        *dofs += own;
    }
    sums.into_iter().map(|(entries, dofs)| entries > LONG * dofs).collect()
}

/// Puts the bodies of a tree together, keeping parents first.
fn group_by_tree(bodies: &mut [Body], places: &mut [(Option<usize>, Pose)]) {
    let mut order: Vec<usize> = (0..bodies.len()).collect();
    order.sort_by_key(|&b| (bodies[b].tree, b));
    let mut rank = vec![0; bodies.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old] = new;
    }
    bodies.sort_by_key(|b| b.tree);
    for parent in bodies.iter_mut().filter_map(|b| b.parent.as_mut()) {
        *parent = rank[*parent];
    }
    for body in places.iter_mut().filter_map(|p| p.0.as_mut()) {
        *body = rank[*body];
    }
}

/// Transforms an inertia from the coordinates of `place` to those in which `place` is given.
fn moved(inertia: &Inertia, place: &Pose) -> Inertia {
    let tensor = if place.attitude == Quaternion::IDENTITY {
        inertia.tensor
    } else {
        Symmetric::turned(&place.attitude.matrix(), &inertia.tensor).full()
    };
    Inertia { mass: inertia.mass, center: place.point(inertia.center), tensor }
}

/// Combines two inertias (RBDA section 2.13).
fn together(a: &Inertia, b: &Inertia) -> Inertia {
    let mass = a.mass + b.mass;
    let center = if mass > 0.0 {
        add(scale(a.mass / mass, a.center), scale(b.mass / mass, b.center))
    } else {
        a.center
    };
    let about = |i: &Inertia| {
        let t = i.tensor;
        Symmetric([t[0][0], t[0][1], t[0][2], t[1][1], t[1][2], t[2][2]])
            .shifted(i.mass, sub(i.center, center))
            .0
    };
    let (x, y) = (about(a), about(b));
    Inertia { mass, center, tensor: Symmetric(std::array::from_fn(|k| x[k] + y[k])).full() }
}
