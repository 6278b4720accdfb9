//! Text in, passages out, no I/O.
