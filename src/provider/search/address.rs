//! Which addresses a web result may have, and when two are the same page.
//!
//! This is for links that are shown and for dropping doubles, not for fetching: a host's name is not
//! resolved, so it says nothing of where a request would go.

use super::plain::is_hidden;

/// Parameters that only say where a visitor came from.
const TRACKING: [&str; 5] = ["gclid", "fbclid", "msclkid", "mc_cid", "mc_eid"];

/// One text for all addresses of a page: without scheme, `www.`, default port, fragment, tracking
/// parameters and slash at the end. `None` for what is no http(s) address of a public host.
pub fn canonical(url: &str) -> Option<String> {
    let refused = |c: char| c.is_whitespace() || c.is_control() || is_hidden(c) || "<>\"\\^`{|}".contains(c);
    if url.len() > 2048 || url.contains(refused) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let port = if scheme.eq_ignore_ascii_case("https") {
        ":443"
    } else if scheme.eq_ignore_ascii_case("http") {
        ":80"
    } else {
        return None;
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = authority.to_lowercase();
    let host = host.strip_suffix(port).unwrap_or(&host);
    let name = host.split(':').next().unwrap_or_default();
    if host.contains(['@', '[', '%']) || !is_public(name) {
        return None;
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let kept: Vec<&str> = query.split('&').filter(|part| !part.is_empty() && !is_tracking(part)).collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    Some(format!("{}{}{query}", host.strip_prefix("www.").unwrap_or(host), path.trim_end_matches('/')))
}

fn is_tracking(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default();
    name.starts_with("utm_") || TRACKING.contains(&name)
}

/// A name with a dot that is not reserved for private use, or the four numbers of a public address.
fn is_public(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let Some((_, last)) = host.rsplit_once('.') else { return false };
    if host.split('.').any(str::is_empty) || ["localhost", "local", "internal", "lan", "home"].contains(&last) {
        return false;
    }
    // Browsers read a last label that begins with a digit as a number of an address.
    if !last.starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    let Ok(address) = host.parse::<std::net::Ipv4Addr>() else { return false };
    let [first, second, ..] = address.octets();
    let shared = first == 100 && (64..128).contains(&second);
    !(first == 0 || first >= 224 || shared || address.is_private() || address.is_loopback() || address.is_link_local())
}
