//! Shell patterns over tensor names, and renames that carry what `*` matched.

use crate::core::{Error, Result};

/// A shell pattern: `*` for any text, `?` for one character, `[abc]`, `[a-z]`, `[!a-z]` for one of (or none of) these;
/// a backslash takes away the meaning of the next character. It matches a whole name; dots and slashes are ordinary.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Any,
    One,
    Char(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    /// Reads a pattern; a `[` that no `]` closes stands for itself.
    pub(super) fn new(text: &str) -> Self {
        let (mut tokens, mut rest) = (Vec::new(), text.chars());
        while let Some(c) = rest.next() {
            tokens.push(match c {
                '*' => Token::Any,
                '?' => Token::One,
                '\\' => Token::Char(rest.next().unwrap_or('\\')),
                '[' => match set(rest.as_str()) {
                    Some((token, after)) => {
                        rest = after.chars();
                        token
                    }
                    None => Token::Char('['),
                },
                plain => Token::Char(plain),
            });
        }
        Pattern { text: text.to_owned(), tokens }
    }

    /// The pattern as it was given.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        self.captures(name).is_some()
    }

    /// What each `*` matched, from the left; an earlier `*` takes as little as it can. In time length × tokens.
    pub(super) fn captures<'n>(&self, name: &'n str) -> Option<Vec<&'n str>> {
        let mut starts: Vec<(usize, usize)> = Vec::new();
        // Where to go on when the part after the last `*` does not fit: only that `*` needs to grow.
        let mut retry: Option<(usize, usize)> = None;
        let (mut token, mut at) = (0, 0);
        loop {
            let next = name[at..].chars().next();
            match (self.tokens.get(token), next) {
                (Some(Token::Any), _) => {
                    starts.push((at, at));
                    token += 1;
                    retry = Some((token, at));
                    continue;
                }
                (Some(wanted), Some(c)) if wanted.takes(c) => {
                    token += 1;
                    at += c.len_utf8();
                    continue;
                }
                (None, None) => {
                    return Some(starts.into_iter().map(|(start, end)| &name[start..end]).collect());
                }
                _ => {}
            }
            let (after_star, end) = retry?;
            let end = end + name[end..].chars().next()?.len_utf8();
            retry = Some((after_star, end));
            (token, at) = (after_star, end);
            starts.last_mut()?.1 = end;
        }
    }

    fn n_stars(&self) -> usize {
        self.tokens.iter().filter(|token| **token == Token::Any).count()
    }
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Token::Any => false,
            Token::One => true,
            Token::Char(wanted) => c == *wanted,
            Token::Set { negated, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
            }
        }
    }
}

/// The set that begins after a `[`, and what follows its `]`.
fn set(text: &str) -> Option<(Token, &str)> {
    let inside = text.strip_prefix(['!', '^']);
    let (negated, mut rest) = (inside.is_some(), inside.unwrap_or(text).chars());
    let mut ranges = Vec::new();
    loop {
        let from = match rest.next()? {
            // A `]` right after the opening is one of the characters.
            ']' if !ranges.is_empty() => return Some((Token::Set { negated, ranges }, rest.as_str())),
            '\\' => rest.next()?,
            c => c,
        };
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) if to != ']' => {
                ranges.push((from, to));
                rest = ahead;
            }
            _ => ranges.push((from, from)),
        }
    }
}

/// `OLD=NEW`: a name that matches OLD becomes NEW, each `*` of NEW being what the `*` of OLD at its place matched.
#[derive(Clone, Debug)]
pub(super) struct Rename {
    pub(super) old: Pattern,
    new: String,
}

impl Rename {
    pub(super) fn new(old: &str, new: &str) -> Result<Self> {
        let old = Pattern::new(old);
        let (have, want) = (old.n_stars(), new.matches('*').count());
        if want > have {
            return Err(Error::usage(
                format!("the new name `{new}` has {want} `*`, the old one `{}` has {have}", old.as_str()),
                "each `*` of the new name carries one of the old name over",
            ));
        }
        Ok(Rename { old, new: new.to_owned() })
    }

    /// The new name of `name`, if this rename is for it.
    pub(super) fn apply(&self, name: &str) -> Option<String> {
        let captures = self.old.captures(name)?;
        let (mut parts, mut renamed) = (self.new.split('*'), String::new());
        renamed.push_str(parts.next().unwrap_or_default());
        for (part, capture) in parts.zip(captures) {
            renamed.push_str(capture);
            renamed.push_str(part);
        }
        Some(renamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_name() {
        for (pattern, name, fits) in [
            ("*.weight", "a/b.c.weight", true),
            ("*.weight", "a.weight.x", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("layers.?.w", "layers.7.w", true),
            ("layers.?.w", "layers.12.w", false),
            ("layers.[0-3].*", "layers.2.w", true),
            ("layers.[!0-3].*", "layers.2.w", false),
            ("layers.[^0-3]*", "layers.é", true),
            ("[]x]", "]", true),
            ("[a-]", "-", true),
            ("a[b", "a[b", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("a*b*c", "a.b.b.c", true),
            ("a*b*c", "abb", false),
            ("?", "é", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), fits, "`{pattern}` on `{name}`");
        }
    }

    #[test]
    fn a_star_is_carried_over() {
        let rename = |old: &str, new: &str, name: &str| Rename::new(old, new).unwrap().apply(name);
        assert_eq!(rename("model.*", "*", "model.a.b").as_deref(), Some("a.b"));
        assert_eq!(rename("*.attn.*.w", "x.*.y.*", "l.0.attn.q.w").as_deref(), Some("x.l.0.y.q"));
        assert_eq!(rename("*.*", "*_*", "a.b.c").as_deref(), Some("a_b.c"), "an earlier star takes little");
        assert_eq!(rename("a", "b", "a").as_deref(), Some("b"));
        assert_eq!(rename("a", "b", "aa"), None);
        assert!(Rename::new("a", "*").unwrap_err().to_string().contains("has 1 `*`"));
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let pattern = Pattern::new(&"a*".repeat(200));
        assert!(!pattern.matches(&("a".repeat(199) + &"b".repeat(10_000))));
    }
}
