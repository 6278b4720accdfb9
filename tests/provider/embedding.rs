//! Laws of the embedding codec, and what its fixtures ask of it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use countercheck::provider::chat::workers_ai::BINDING;
use countercheck::provider::embed::{
    self, EmbedModel, EmbedRequest, InputError, MAX_BYTES, MAX_TEXT_BYTES, MAX_TEXTS, Purpose, batches,
};
use countercheck::provider::error::{Mismatch, ProviderError};
use countercheck::provider::http::{Endpoint, Headers, HttpResponse};
use countercheck::provider::vendor::vendor;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{cases, endpoint};

/// The codec of a vendor with the settings of a fixture.
pub fn codec(name: &str, settings: &Value) -> EmbedModel {
    let dimensions = settings["dimensions"].as_u64().map(|dimensions| dimensions as usize);
    let codec = vendor(embed::VENDORS, name).unwrap().codec;
    let bound = Endpoint::parse(BINDING, None).unwrap();
    let endpoint = if settings["binding"] == true { bound } else { endpoint() };
    EmbedModel { codec, endpoint, model: "m".to_owned(), dimensions }
}

/// What a fixture asks for.
pub fn asked(fixture: &Value) -> Result<EmbedRequest, InputError> {
    let text = |text: &Value| match text {
        Value::String(text) => text.clone(),
        text => text["$repeat"][0].as_str().unwrap().repeat(text["$repeat"][1].as_u64().unwrap() as usize),
    };
    let dimension = fixture["dimension"].as_u64().map(|dimension| dimension as usize);
    let purpose = if fixture["purpose"] == "query" { Purpose::Query } else { Purpose::Document };
    Ok(EmbedRequest::new(fixture["texts"].as_array().unwrap().iter().map(text).collect(), dimension)?.to(purpose))
}

fn texts(count: usize) -> EmbedRequest {
    EmbedRequest::new((0..count).map(|n| n.to_string()).collect(), None).unwrap()
}

fn read(asked: &EmbedRequest, body: &Value) -> Result<Vec<Vec<f32>>, ProviderError> {
    let response = HttpResponse { status: 200, headers: Headers::default(), body: body.to_string().into_bytes() };
    codec("openai", &Value::Null).reply(asked, &response)
}

/// As numbers, or packed.
fn item(index: usize, vector: &[f32], packed: bool) -> Value {
    let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
    let embedding = if packed { json!(BASE64_STANDARD.encode(bytes)) } else { json!(vector) };
    json!({ "object": "embedding", "index": index, "embedding": embedding })
}

fn is_unit(vector: &[f32]) -> bool {
    let square: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    (square - 1.0).abs() < 1e-5
}

/// Vectors of one dimension, each with a direction.
fn vectors() -> impl Strategy<Value = Vec<Vec<f32>>> {
    let component = prop_oneof![prop::num::f32::NORMAL, prop::num::f32::SUBNORMAL, -1.0_f32..1.0, Just(0.0)];
    (1..9_usize)
        .prop_flat_map(move |dimension| {
            prop::collection::vec(prop::collection::vec(component.clone(), dimension), 1..12)
        })
        .prop_map(|mut vectors| {
            vectors.iter_mut().filter(|v| v.iter().all(|&x| x == 0.0)).for_each(|v| v[0] = 0.5);
            vectors
        })
}

/// JSON of any shape under the names that the codec reads.
fn anything() -> impl Strategy<Value = Value> {
    let names = ["data", "index", "embedding", "error", "code", "detail"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1..3_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[A-Za-z0-9+/=]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 4, move |inner| {
        let field = (prop::sample::select(names.to_vec()), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            prop::collection::vec(field, 0..4)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Whatever their order and form on the way, each text gets its own vector, in the same direction.
    #[test]
    fn vectors_come_back_in_the_order_of_their_texts(vectors in vectors(), seed in any::<u64>(), packed in any::<u64>()) {
        let mut items: Vec<Value> = vectors.iter().enumerate().map(|(i, v)| item(i, v, packed >> (i % 64) & 1 == 1)).collect();
        let count = items.len();
        for i in (1..count).rev() {
            items.swap(i, (seed.rotate_left(i as u32 * 7) % (i as u64 + 1)) as usize);
        }
        let read = read(&texts(count), &json!({ "data": items })).unwrap();
        prop_assert_eq!(read.len(), count);
        for (sent, read) in vectors.iter().zip(&read) {
            prop_assert!(is_unit(read), "{:?} of {:?}", read, sent);
            let largest = sent.iter().fold(0.0_f64, |largest, &x| largest.max(f64::from(x).abs()));
            let scale = read.iter().fold(0.0_f64, |largest, &x| largest.max(f64::from(x).abs())) / largest;
            for (&sent, &read) in sent.iter().zip(read) {
                prop_assert!((f64::from(sent) * scale - f64::from(read)).abs() < 1e-6);
            }
        }
    }

    /// Indices that are not each text's once are no reply, however many of them are right.
    #[test]
    fn only_a_permutation_is_a_reply(indices in prop::collection::vec(0..6_usize, 1..6)) {
        let items: Vec<Value> = indices.iter().map(|&index| item(index, &[1.0, index as f32], false)).collect();
        let read = read(&texts(indices.len()), &json!({ "data": items }));
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        if sorted.iter().copied().eq(0..indices.len()) {
            prop_assert!(read.is_ok());
        } else {
            prop_assert_eq!(read, Err(ProviderError::EmbeddingMismatch { fault: Mismatch::Index }));
        }
    }

    #[test]
    fn no_json_is_a_panic_and_whatever_is_read_can_be_compared(value in anything(), count in 1..4_usize) {
        let data = json!({ "data": value });
        for body in [&value, &data] {
            if let Ok(vectors) = read(&texts(count), body) {
                prop_assert_eq!(vectors.len(), count);
                prop_assert!(vectors.iter().all(|v| v.len() == vectors[0].len() && is_unit(v)));
            }
        }
    }

    /// Every text is in one batch, in order; a batch can be sent, and would not have taken the next text.
    #[test]
    fn batches_are_as_large_as_requests_may_be(lengths in prop::collection::vec(prop_oneof![1..20_usize, 1..=MAX_TEXT_BYTES], 0..300)) {
        let texts: Vec<String> = lengths.iter().map(|&length| "x".repeat(length)).collect();
        let batches = batches(&texts, codec("openai", &Value::Null).codec.limits());
        prop_assert!(batches.iter().flat_map(Clone::clone).eq(0..texts.len()));
        for batch in batches {
            prop_assert!(EmbedRequest::new(texts[batch.clone()].to_vec(), None).is_ok());
            let bytes = texts[batch.clone()].iter().map(String::len).sum::<usize>();
            prop_assert!(texts.get(batch.end).is_none_or(|next| batch.len() == MAX_TEXTS || bytes + next.len() > MAX_BYTES));
        }
    }
}

#[test]
fn the_message_says_what_a_quarter_of_the_dimensions_means() {
    let message = |got, want| ProviderError::EmbeddingMismatch { fault: Mismatch::Dimension { got, want } }.to_string();
    assert!(message(384, 1536).contains("base64"));
    assert!(!message(768, 1536).contains("base64"));
    assert!(message(768, 1536).contains("768") && message(768, 1536).contains("1536"));
}
