//! The Worker's settings, parsed once for each request from its variables into types.
//!
//! | variable | default | |
//! |---|---|---|
//! | `INDEX_PATH` | `/docs.ccx` | the index, a path in the assets |
//! | `EMBEDDER_PATH` | `/pkg/embedder.bin` | the embedder's table, a path in the assets; empty: search by words alone |
//! | `ALLOWED_ORIGINS` | | the sites whose pages may ask, for instance `https://docs.example.com`, separated by commas |

use crate::edge::origins::{OriginError, Origins};
use crate::problem::Problem;

const INDEX_PATH: &str = "/docs.ccx";
const EMBEDDER_PATH: &str = "/pkg/embedder.bin";

/// What an operator can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the index is in the assets.
    pub index_path: String,
    /// Where the embedder's table is in the assets; none: words alone.
    pub embedder_path: Option<String>,
    /// The other sites whose pages may read replies.
    pub allowed_origins: Origins,
}

/// A variable that cannot be used: the operator's mistake, never the caller's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The variable is JSON, a binding, anything but text.
    #[error("{name} is not text: write it as a string in [vars]")]
    NotText {
        /// The variable.
        name: &'static str,
    },
    /// It is no path in the assets.
    #[error("{name} is {value:?}: it must be the path of a file in the assets, from / on, for instance {example}")]
    Path {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// A value that would do.
        example: &'static str,
    },
    /// It names no origin.
    #[error(transparent)]
    Origin(#[from] OriginError),
}

impl Settings {
    /// Reads the settings; `variable` looks one up by its name.
    pub fn parse(
        variable: impl Fn(&'static str) -> Result<Option<String>, SettingsError>,
    ) -> Result<Self, SettingsError> {
        let embedder_path = match variable("EMBEDDER_PATH")? {
            Some(empty) if empty.trim().is_empty() => None,
            given => Some(path("EMBEDDER_PATH", given, EMBEDDER_PATH)?),
        };
        Ok(Self {
            index_path: path("INDEX_PATH", variable("INDEX_PATH")?, INDEX_PATH)?,
            embedder_path,
            allowed_origins: Origins::parse(&variable("ALLOWED_ORIGINS")?.unwrap_or_default())?,
        })
    }
}

fn path(name: &'static str, given: Option<String>, default: &'static str) -> Result<String, SettingsError> {
    let value = given.unwrap_or_else(|| default.to_owned());
    // What a URL would cut off or change can name no file.
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'?' | b'#' | b'\\' | b'%');
    let named =
        value.starts_with('/') && !value.ends_with('/') && !value.split('/').any(|part| matches!(part, "." | ".."));
    if named && value.bytes().all(plain) {
        Ok(value)
    } else {
        Err(SettingsError::Path { name, value, example: default })
    }
}

impl From<SettingsError> for Problem {
    fn from(error: SettingsError) -> Self {
        Self::new("misconfigured", 503, error.to_string())
    }
}
