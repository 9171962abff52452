//! JSON with byte offsets (RFC 8259): one scanner for the headers of weight files and, on top of it, a small tree for
//! the files beside them.
//!
//! It is ours because a header reader needs what general readers hide: where each value lies, keys that occur twice,
//! and 100,000 entries without an allocation each. It accepts what the field's reference reader (`serde_json`)
//! accepts, and refuses lone surrogates everywhere.

mod scan;
mod tree;

pub(crate) use scan::{JsonError, Number, Scanner, Stop, Str};
pub(crate) use tree::{Json, Node};

#[cfg(test)]
mod tests {
    use super::{Json, Scanner, Stop};
    use crate::core::{Budget, Limits};

    fn agrees(text: &str) {
        let budget = Budget::new(Limits::default());
        let ours = Json::parse(text, &budget);
        let theirs = serde_json::from_str::<serde_json::Value>(text);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?} against {theirs:?}");
        let mut scanner = Scanner::new(text);
        let skipped = scanner.skip_value(&budget);
        scanner.skip_blanks();
        assert_eq!(skipped.is_ok() && scanner.peek().is_none(), theirs.is_ok(), "skip {text:?}");
        if let (Ok(ours), Ok(serde_json::Value::String(theirs))) = (ours, theirs) {
            assert_eq!(ours.as_str(), Some(theirs.as_str()));
        }
    }

    #[test]
    fn accepts_and_refuses_what_serde_json_does() {
        for text in [
            "",
            " ",
            "{}",
            "[]",
            "{ }",
            "[ ]",
            "[1,]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1}",
            "[1 2]",
            "nul",
            "null",
            "true",
            "truex",
            "false",
            "0",
            "00",
            "01",
            "-0",
            "-",
            "1.",
            "1.0",
            ".5",
            "1e",
            "1e5",
            "1e+",
            "1E-7",
            "+1",
            "\"\"",
            "\"a",
            "\"\\u0041\"",
            "\"\\u004\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\ud83d\\u0041\"",
            "\"\\x\"",
            "\"\\/\"",
            "\"\\b\\f\\n\\r\\t\\\"\\\\\"",
            "\"\n\"",
            "\"\u{1f}\"",
            "\"\u{7f}\"",
            "\"é\u{2028}\"",
            "{}{}",
            "{\"a\":{\"b\":[{},[],null,true,-1.5e3,\"x\"]}} ",
            "\u{feff}{}",
            "NaN",
            "[[[[]]]]",
            "[}",
            "{]",
            "{1:2}",
            "/**/{}",
            "\"12345678\\n12345678\"",
            "\"1234567\"",
            "\"12345678\"",
            "\"\u{80}\u{ff}\u{100}aaaaaaa\"",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn depth_is_held_without_a_stack() {
        let mut limits = Limits::none();
        let deep = "[".repeat(1_000_000);
        let open = Scanner::new(&deep).skip_value(&Budget::new(limits.clone()));
        assert!(matches!(open, Err(Stop::Json(_))));
        assert!(matches!(Json::parse(&deep, &Budget::new(limits.clone())), Err(Stop::Json(_))));
        limits.depth = 128;
        assert!(matches!(Scanner::new(&deep).skip_value(&Budget::new(limits)), Err(Stop::Limit(_))));
    }

    #[test]
    fn duplicates_are_found_after_unescaping_and_at_any_depth() {
        let json =
            Json::parse(r#"{"a":{"b":1,"\u0062":2},"c":[{"d":1,"d":2}]}"#, &Budget::new(Limits::default()))
                .expect("valid");
        let mut names: Vec<_> = json.duplicates().iter().map(|key| key.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["b", "d"]);
    }
}
