//! Who answers the core's tasks. Solvers are pure: a task in, a reply out.

pub mod builtin;
pub mod checkpoint;
mod claims;
pub mod llm;
mod marks;
mod schema;
