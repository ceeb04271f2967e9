//! What contacts, rows and shapes are called from step to step.

/// Identifier of a contact from step to step: its parts, as `Model::parts` numbers them, and
/// the features that touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactId {
    /// Part of the first body.
    pub part_a: u32,
    /// Part of the second body.
    pub part_b: u32,
    /// Pair of features, see `geometry::Touch`.
    pub feature: u32,
}

/// Identifier of a group of rows of the contact problem. Groups are stored in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowId {
    /// A contact between two features.
    Contact(ContactId),
    /// A limit of a joint: twice its degree of freedom, and one more for the upper limit.
    Limit(u32),
    /// Coulomb friction in a joint, by its degree of freedom.
    Friction(u32),
    /// A row of a loop: eight times the loop's index in the model, and the number of the row.
    Loop(u32),
    /// A drive, by its motor's index in the model.
    Drive(u32),
    /// Spring and damper in a joint, by its degree of freedom.
    Spring(u32),
    /// A gear, by its index in the model.
    Gear(u32),
}

/// Owner of a shape: a body or a world part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// Body, as an index into `Resolved::bodies`.
    Body(usize),
    /// World part, as an index into `Resolved::world`.
    World(usize),
}

impl Owner {
    /// The body, if it is one.
    pub fn body(self) -> Option<usize> {
        match self {
            Self::Body(i) => Some(i),
            Self::World(_) => None,
        }
    }
}
