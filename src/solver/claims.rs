//! How a chat model is asked about the claims of a draft, one by one, and what its reply says of each.

use crate::pipeline::task::{CheckClaims, ClaimSaid, ClaimsSaid};
use crate::pipeline::verdict::{Support, Verdict};
use crate::prompt::Shown;
use crate::provider::verdict::{binary_in, choice, is_copied, items, number_in, object_with, text_in};

/// What a model calls the degrees of support, each claim by itself.
pub(super) const SUPPORT: [(&str, Support); 3] =
    [("yes", Support::Fully), ("partly", Support::Partially), ("no", Support::None)];

/// What a reply says of each claim, paired by number.
pub(super) fn read(task: &CheckClaims, reply: &str, shown: &Shown) -> ClaimsSaid {
    let own = |text: &str| !is_copied(text, &shown.material);
    let said = |place: Option<std::ops::Range<usize>>| {
        let object = &reply[place?];
        let (name, support) = SUPPORT[choice(object, "support", &SUPPORT.map(|(name, _)| name))?];
        let passage = number_in(object, "document").and_then(|number| number.checked_sub(1));
        let quote = text_in(object, "quote").map(|quote| shown.without_fences(&quote)).unwrap_or_default();
        let is_own = own(&format!(r#"{{"support": "{name}"}}"#));
        is_own.then_some(ClaimSaid { support, passage, quote })
    };
    let claims = items(reply, task.claims.len()).into_iter().map(|place| said(place).unwrap_or_default()).collect();
    let answer = object_with(reply, "useful").map(|place| &reply[place]).filter(|text| own(text));
    let useful = answer.and_then(|object| binary_in(object, &["useful"])).map_or(Verdict::Unknown, Verdict::from);
    ClaimsSaid { claims, useful: if task.question.is_some() { useful } else { Verdict::Unknown } }
}

/// What a reply writes in place of each of so many claims; nothing where it names none, or two.
pub(super) fn read_repairs(count: usize, reply: &str, shown: &Shown) -> Vec<String> {
    let text = |place: Option<std::ops::Range<usize>>| text_in(&reply[place?], "text");
    let texts = items(reply, count).into_iter().map(|place| text(place).unwrap_or_default());
    texts.map(|text| shown.without_fences(&text)).collect()
}
