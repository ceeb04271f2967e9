//! Whether loads make the forces of a solution at rest, or whether it needs forces that bodies would have to hold in each other from the start.
//!
//! Rigid bodies between rigid walls may press on both as hard as holding them takes: a block that fits exactly into a slot need not fall. No load makes such forces. Let all
//! rigid contacts yield alike, and begin without force: a block that falls between two walls presses on neither. Forces that loads make are near some limit of vanishing
//! compliance, and this is examined here. With compliance `eps` and friction up to given bounds (Tresca), whatever the normal force, the problem is convex. Bounds are
//! those of the solution at rest first, and then those of the normal forces that come out, with some slack. Where that sets the bodies moving, the solution is wedged. Bodies move
//! where their velocities do not vanish with `eps`.

use super::super::law::Act;
use super::super::run::{FIRST, Run};
use super::DOWN;

/// Compliance, as a share of the mean diagonal of `A`; velocities are compared with those at [`DOWN`] times as much.
const SMALL: f64 = 1e-6;
/// Bodies move if this share of their velocities (square) is left by [`DOWN`] times the compliance; 0.01 if they rest.
const MOVES: f64 = 0.25;
/// Times that bounds follow the normal forces, and their relative change at which that ends.
const ROUNDS: usize = 20;
const SETTLED: f64 = 1e-3;

impl<const D: usize, const P: usize> Run<'_, D, P> {
    /// Whether loads make the forces at hand, which are at rest. In doubt they do.
    pub(super) fn is_borne(&mut self) -> bool {
        self.memory.rest.0.clone_from(&self.island.force);
        self.island.begin_bounds();
        self.island.recentre_at_zero();
        self.island.set_act(Act::Bounded);
        let borne = self.follow_bounds();
        self.island.set_act(Act::Coulomb);
        self.island.force.clone_from(&self.memory.rest.0);
        borne
    }

    fn follow_bounds(&mut self) -> bool {
        let (small, mut eps) = (SMALL * self.mean, FIRST * self.mean);
        while eps > small {
            self.descend(eps);
            eps *= DOWN;
        }
        for _ in 0..ROUNDS {
            let one = self.descend(small);
            let fast = self.island.moved();
            let two = self.descend(DOWN * small);
            let slow = self.island.moved();
            if !(one && two) || self.spent() {
                return true;
            }
            if slow > self.target && slow > MOVES * fast {
                return false;
            }
            if self.island.bound_friction() <= SETTLED {
                return true;
            }
        }
        true
    }
}
