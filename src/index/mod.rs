//! The in-memory index: insert, remove, search, save, load.
