//! Cloudflare's web search: `POST {base}/websearch/`, below `…/accounts/{id}/ai`, and by a Worker's own
//! binding, whose requests the host of a Worker makes. It asks one of several searches, through a gateway.

use serde_json::{Value, json};

use super::{LARGEST_REPLY, Raw, SearchCodec, SearchEngine, WebQuery, list, text};
use crate::provider::chat::workers_ai::{BINDING, refused, unwrapped};
use crate::provider::error::{Fault, ProviderError};
use crate::provider::http::HttpRequest;

/// The gateway that every account has.
const GATEWAY: &str = "default";

/// Cloudflare.
#[derive(Debug)]
pub(super) struct Cloudflare;

impl SearchCodec for Cloudflare {
    fn request(&self, to: &SearchEngine, asked: &WebQuery) -> HttpRequest {
        let gateway = to.options.gateway.as_deref().unwrap_or(GATEWAY);
        let mut body = json!({ "query": asked.words(), "limit": asked.at_most(10) });
        if to.endpoint.is(BINDING) {
            body["gatewayId"] = json!(gateway);
        } else {
            body["options"] = json!({ "gateway": { "id": gateway } });
        }
        if let Some(engine) = &to.options.engine {
            body["provider"] = json!(engine);
        }
        HttpRequest::post(&to.endpoint, "/websearch/", "application/json", &body, LARGEST_REPLY)
    }

    fn choices(&self) -> &'static [&'static str] {
        &["engine", "gateway"]
    }

    fn read<'a>(&self, reply: &'a Value) -> Result<Vec<Raw<'a>>, ProviderError> {
        let page = |page: &'a Value| Raw {
            title: text(page, "title"),
            url: text(page, "url"),
            text: text(page, "description").into(),
            ..Raw::default()
        };
        Ok(list(unwrapped(reply), "/items").ok_or(Fault::Shape)?.iter().map(page).collect())
    }

    fn refused(&self, _status: u16, body: &Value) -> Option<ProviderError> {
        refused(body)
    }
}
