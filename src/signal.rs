//! The platform's `AbortSignal` as a future: how a caller who has gone is noticed.

use wasm_bindgen_futures::JsFuture;
use web_sys::AbortSignal;

/// Comes back once the signal is aborted; never, if it is not.
pub(crate) async fn aborted(signal: &AbortSignal) {
    if signal.aborted() {
        return;
    }
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        // A signal takes listeners always.
        let _ = signal.add_event_listener_with_callback("abort", &resolve);
    });
    let _ = JsFuture::from(promise).await;
}
