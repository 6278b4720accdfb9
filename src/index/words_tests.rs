//! What counts as the same word, case by case.

use proptest::prelude::*;

use super::*;

#[test]
fn a_text_gives_its_terms_by_the_documented_rules() {
    let cases: &[(&str, &str)] = &[
        ("", ""),
        (" \n\t!? -- … 🎉", ""),
        ("How do I limit the size of a request body?", "limit size request bodi"),
        ("limits limited limiting", "limit limit limit"),
        ("not the same", "not same"),
        ("doesn't can't user's you're", "user"),
        ("doesn’t user’s", "user"),
        ("bodyLimit", "bodi limit bodylimit"),
        ("body_limit", "bodi limit bodylimit"),
        ("body-limit", "bodi limit bodylimit"),
        ("HTTPServer URLs iOS", "http server httpserver url os io"),
        ("utf8Decode sha256 E0382", "utf8 decod utf8decode sha256 e0382"),
        ("__init__ x_axis", "init axi xaxi"),
        ("Content-Type: text/html", "content type contenttyp text html"),
        ("HTTP/2 HTTP/1.1 and/or 24/7", "http 2 http2 http 1.1 http1.1 24 7"),
        ("v1.2.3 1.2.3 v5 V5", "1.2.3 1.2.3 5 5"),
        ("1,048,576 1_000 10.5", "1048576 1000 10.5"),
        ("npm run --watch `-p` --body-limit=5", "npm run watch --watch p -p bodi limit bodylimit --bodylimit 5"),
        ("well-known a -- b x-y", "well known wellknown b xy"),
        ("req.body Node.js", "req bodi reqbodi node js nodej"),
        ("C++ C# F# A# c++11 C", "c++ c# f# c 11 c"),
        ("日本語 茶 API文档", "日本 本語 茶 api 文档"),
        ("カタカナ 한국어", "カタ タカ カナ 한국 국어"),
        ("Größe naïve Ｆｕｌｌ", "große naiv full"),
        ("हिन्दी", "हिन्दी"),
    ];
    for (text, terms) in cases {
        assert_eq!(words(text).join(" "), *terms, "of {text:?}");
    }
}

#[test]
fn each_language_has_its_own_stems_and_all_lose_their_accents_after_them() {
    let cases: &[(Stemming, &str, &str)] = &[
        (Stemming::Fr, "Les chaînes chaîne régulières régulière l'été", "le chain chain reguli reguli ete let"),
        (Stemming::De, "Häuser Haus größere Größe", "haus haus gross gross"),
        (Stemming::Es, "niños niña canciones canción", "nin nin cancion cancion"),
        (Stemming::None, "limits limit Größe the", "limits limit große the"),
        (Stemming::Fr, "bodyLimit E0382 --watch", "body lim bodylim e0382 watch --watch"),
    ];
    for (stemming, text, terms) in cases {
        assert_eq!(words_in(text, *stemming).join(" "), *terms, "{stemming:?} of {text:?}");
    }
    let (composed, decomposed) = ("café niño über", "cafe\u{301} nin\u{303}o u\u{308}ber");
    for stemming in [Stemming::Fr, Stemming::De, Stemming::Es, Stemming::None] {
        assert_eq!(words_in(composed, stemming), words_in(decomposed, stemming), "{stemming:?}");
    }
}

#[test]
fn composed_and_decomposed_letters_give_the_same_term() {
    assert_eq!(words("caf\u{e9}"), words("cafe\u{301}"));
}

#[test]
fn stop_words_are_sorted_for_binary_search() {
    assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
}

#[test]
fn a_line_of_base64_is_cut_and_a_long_compound_has_no_whole() {
    let line = "q1".repeat(50);
    assert_eq!(words(&line), [&line[..MAX_TERM_BYTES]]);
    let compound = ["seven"; 20].join("-");
    assert_eq!(words(&compound), ["seven"; 20]);
}

proptest! {
    #[test]
    fn terms_are_never_empty_nor_longer_than_the_limit(text in "(\\PC|[-_.'/A-Za-z0-9é日]){0,80}") {
        for term in words(&text) {
            prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES, "{:?} of {:?}", term, text);
        }
    }

    #[test]
    fn lines_give_their_terms_one_after_the_other(a in "\\PC{0,40}", b in "\\PC{0,40}") {
        let apart = [words(&a), words(&b)].concat();
        prop_assert_eq!(words(&format!("{a}\n{b}")), apart);
    }

    #[test]
    fn case_does_not_matter_to_a_plain_word(word in "[a-z]{2,12}") {
        prop_assert_eq!(words(&word), words(&word.to_uppercase()));
    }
}
