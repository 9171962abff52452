//! A counted piece of text: a hundred thousand names share the one header that they were read from.

use std::{
    borrow::Borrow,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

/// Immutable text that is cheap to clone; it may be a range of a larger shared text.
#[derive(Clone)]
pub struct Text {
    owner: Arc<String>,
    start: u32,
    len: u32,
}

impl Text {
    /// The part of `owner` that starts at `start`, if it is one and small enough to be named by 32 bits.
    pub(crate) fn part(owner: &Arc<String>, start: usize, len: usize) -> Option<Self> {
        owner.get(start..start.checked_add(len)?)?;
        Some(Text { owner: owner.clone(), start: start.try_into().ok()?, len: len.try_into().ok()? })
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        let start = self.start as usize;
        self.owner.get(start..start + self.len as usize).unwrap_or_default()
    }
}

impl Default for Text {
    fn default() -> Self {
        String::new().into()
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<String> for Text {
    /// # Panics
    /// When the text is 4 GiB or longer; `Limits::string_bytes` keeps text from files far below.
    fn from(text: String) -> Self {
        let len = u32::try_from(text.len()).expect("text below 4 GiB");
        Text { owner: Arc::new(text), start: 0, len }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
