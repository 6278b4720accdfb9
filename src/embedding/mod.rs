//! The built-in static embedder.
