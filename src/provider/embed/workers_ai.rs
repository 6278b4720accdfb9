//! The embeddings of Cloudflare Workers AI: by its REST API, which speaks like `OpenAI` (`POST
//! {base}/embeddings`, below `…/accounts/{id}/ai/v1`), and by a Worker's own binding. Both pool by the mean,
//! so an index that was made by the one can be searched by the other.

use serde_json::{Value, json};

use super::openai::OpenAi;
use super::{EmbedCodec, EmbedModel, EmbedRequest, Row, numbers};
use crate::provider::chat::workers_ai::{BINDING, refused, unwrapped};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::{HttpRequest, as_path};

/// Workers AI.
#[derive(Debug)]
pub(super) struct WorkersAi;

impl EmbedCodec for WorkersAi {
    fn request(&self, to: &EmbedModel, asked: &EmbedRequest) -> HttpRequest {
        if !to.endpoint.is(BINDING) {
            return OpenAi::USUAL.request(to, asked);
        }
        let (path, body) = (format!("/run/{}", as_path(&to.model)), json!({ "text": asked.texts() }));
        HttpRequest::post(&to.endpoint, &path, "application/json", &body, asked.largest_reply())
    }

    /// The binding gives `{ shape, data: [[…], …] }`.
    fn rows(&self, reply: &Value) -> Result<Vec<Row>, ProviderError> {
        let reply = unwrapped(reply);
        let data = reply.get("data").and_then(Value::as_array).ok_or(Fault::Shape)?;
        if !data.iter().all(Value::is_array) {
            return OpenAi::USUAL.rows(reply);
        }
        let row = |list: &Value| {
            let (components, dimension) = numbers(list.as_array()?);
            Some(Row { index: None, components, dimension })
        };
        Ok(data.iter().map(row).collect::<Option<Vec<Row>>>().ok_or(Fault::Shape)?)
    }

    fn refused(&self, _status: u16, body: &Value) -> Option<ProviderError> {
        refused(body)
    }
}
