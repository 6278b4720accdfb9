//! Why a file is not an embedder table. It names the part at fault; it decides nothing.

/// What is wrong with a file that should be an embedder table in the format SEM1.
///
/// Most often the file is another one, or was cut while it was downloaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedderError {
    /// It ends before its head does, as a cut or empty download would.
    #[error("an embedder table begins with a head of {head} bytes, this file has {found} in all")]
    TooShort {
        /// The file's length in bytes.
        found: usize,
        /// The head's length in bytes.
        head: usize,
    },
    /// It does not begin with `SEM1`: another file, for instance an HTML error page.
    #[error("not an embedder table: it begins with {found:?}, not with \"SEM1\"")]
    Magic {
        /// The first four bytes, those that are no text replaced.
        found: String,
    },
    /// A projection of another length: another file, or one that was cut.
    #[error("a projection of the teacher's vectors has {expected} bytes, this file has {found}")]
    ProjectionLength {
        /// The file's length in bytes.
        found: usize,
        /// What it must be.
        expected: usize,
    },
    /// A projection with a number that is none.
    #[error("number {at} of the projection is not finite: the file is damaged")]
    ProjectionNumber {
        /// Which.
        at: usize,
    },
    /// It is of a version this build does not know, probably a later one.
    #[error("embedder table of version {found}, this build reads version 1")]
    Version {
        /// The version in the head.
        found: u32,
    },
    /// Its components have a width the format does not have.
    #[error("embedder table with {found} bits a component, the format has 2, 4 and 8")]
    Bits {
        /// The width in the head.
        found: u8,
    },
    /// Bytes of the head that must be zero are not.
    #[error("bytes 17 to 19 of an embedder table must be zero, they are {found:?}")]
    Reserved {
        /// The three bytes.
        found: [u8; 3],
    },
    /// Rows would be empty or end within a byte.
    #[error("{bits}-bit rows of dimension {dimension}, a row must fill one or more whole bytes")]
    Dimension {
        /// Components a row.
        dimension: u32,
        /// Bits a component.
        bits: u8,
    },
    /// It is longer or shorter than its head says, as a cut or doubled download would be.
    #[error("embedder table of {found} bytes, its head says {expected}")]
    Length {
        /// The file's length in bytes.
        found: usize,
        /// The length that follows from the head, in bytes.
        expected: u64,
    },
    /// Its vocabulary is not text.
    #[error("the embedder table's vocabulary is not UTF-8 after its first {valid} bytes")]
    VocabularyText {
        /// How many bytes of the vocabulary are valid.
        valid: usize,
    },
    /// The vocabulary has more or fewer lines than the table has rows.
    #[error("the embedder table's vocabulary has {found} tokens for {rows} rows")]
    TokenCount {
        /// Lines in the vocabulary.
        found: usize,
        /// Rows in the head.
        rows: usize,
    },
    /// A token stands in the vocabulary twice, so it is not clear which row is its own.
    #[error("the embedder table's token {token:?} has two rows, {first} and {second}")]
    DuplicateToken {
        /// The token.
        token: String,
        /// Its first row, from 0.
        first: u32,
        /// Its second row.
        second: u32,
    },
    /// A row's scale is infinite or not a number.
    #[error("the scale of the embedder table's row {row} is not finite")]
    Scale {
        /// The row, from 0.
        row: usize,
    },
}

impl EmbedderError {
    /// A stable name for programs, the same whatever the message says.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "embedder_too_short",
            Self::Magic { .. } => "embedder_magic",
            Self::Version { .. } => "embedder_version",
            Self::Bits { .. } => "embedder_bits",
            Self::Reserved { .. } => "embedder_reserved",
            Self::Dimension { .. } => "embedder_dimension",
            Self::Length { .. } => "embedder_length",
            Self::VocabularyText { .. } => "embedder_vocabulary_text",
            Self::TokenCount { .. } => "embedder_token_count",
            Self::DuplicateToken { .. } => "embedder_duplicate_token",
            Self::Scale { .. } => "embedder_scale",
            Self::ProjectionLength { .. } => "projection_length",
            Self::ProjectionNumber { .. } => "projection_number",
        }
    }
}
