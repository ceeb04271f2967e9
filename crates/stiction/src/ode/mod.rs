//! Schemes that integrate differential equations: compliant contacts, rigid motion between located events, and the change between rigid and compliant
//! contacts that `law = "auto"` makes.

mod auto;
mod compliant;
mod event;

pub use auto::AutoScheme;
pub use compliant::CompliantScheme;
pub use event::EventScheme;
