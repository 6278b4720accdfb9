//! What models said: in the memory of an isolate, and where a namespace is bound as `CACHE` in KV, for all of them.

use std::cell::RefCell;
use std::rc::Rc;

use worker::Env;
use worker::kv::KvStore;

use crate::edge::settings::{CACHE, Settings};
use crate::service::{Cache, DEFAULT_BYTES, Store};

/// KV forgets after so many seconds: prompts, models and documents change.
const MONTH: u64 = 30 * 24 * 60 * 60;

thread_local! {
    static MEMORY: RefCell<Option<Rc<Cache>>> = const { RefCell::new(None) };
}

/// What is kept, if anything is to be.
pub(super) struct Kept {
    pub(super) cache: Option<Rc<Cache>>,
    kv: Option<KvStore>,
}

impl Kept {
    pub(super) fn of(env: &Env, settings: &Settings) -> Self {
        let kv = env.kv(CACHE).ok();
        let bytes = settings.cache_bytes.or(kv.as_ref().map(|_| DEFAULT_BYTES));
        let memory = |bytes| {
            let new = || Rc::new(Cache::new(bytes, String::new()).without_waiting());
            MEMORY.with_borrow_mut(|memory| Rc::clone(memory.get_or_insert_with(new)))
        };
        Self { cache: bytes.map(memory), kv }
    }
}

/// What KV does not give is asked again, and what it does not take is asked again later.
impl Store for Kept {
    async fn recall(&self, key: &str) -> Option<String> {
        self.kv.as_ref()?.get(key).text().await.ok()?
    }

    async fn remember(&self, key: &str, value: &str) {
        if let Some(put) = self.kv.as_ref().and_then(|kv| kv.put(key, value).ok()) {
            _ = put.expiration_ttl(MONTH).execute().await;
        }
    }
}
