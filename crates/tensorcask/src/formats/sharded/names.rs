//! The file names of the convention.

/// A shard's name, `model-00001-of-00003.safetensors`, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Numbered<'a> {
    pub(super) stem: &'a str,
    pub(super) ext: &'a str,
    pub(super) total: u32,
    pub(super) number: u32,
}

impl<'a> Numbered<'a> {
    pub(super) fn parse(name: &'a str) -> Option<Self> {
        let (rest, ext) = name.rsplit_once('.')?;
        let (rest, total) = rest.rsplit_once("-of-")?;
        let (stem, number) = rest.rsplit_once('-')?;
        Some(Numbered { stem, ext, total: five_digits(total)?, number: five_digits(number)? })
    }

    /// The name of another shard of the same set.
    pub(super) fn sibling(&self, number: u32) -> String {
        format!("{}-{number:05}-of-{:05}.{}", self.stem, self.total, self.ext)
    }
}

/// Writers print five digits; more are read, fewer are some other convention.
fn five_digits(text: &str) -> Option<u32> {
    (text.len() >= 5 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Whether a file is a shard index by its name: `X.safetensors.index.json`, `X.bin.index.json`,
/// `X.safetensors.index.fp16.json`.
pub(super) fn is_index(name: &str) -> bool {
    shard_extension(name).is_some()
}

/// The extension that the shards of the index called `name` have.
pub(super) fn shard_extension(name: &str) -> Option<&str> {
    let rest = name.strip_suffix(".json")?;
    let (stem, variant) = match rest.strip_suffix(".index") {
        Some(stem) => (stem, ""),
        None => rest.rsplit_once(".index.")?,
    };
    let (_, ext) = stem.rsplit_once('.')?;
    (!variant.contains('.') && !ext.is_empty()).then_some(ext)
}

#[cfg(test)]
mod tests {
    use super::{Numbered, shard_extension};

    #[test]
    fn index_names_give_the_extension_of_their_shards() {
        for (name, ext) in [
            ("model.safetensors.index.json", Some("safetensors")),
            ("pytorch_model.bin.index.json", Some("bin")),
            ("model.safetensors.index.fp16.json", Some("safetensors")),
            ("tf_model.h5.index.json", Some("h5")),
            ("flax_model.msgpack.index.json", Some("msgpack")),
            ("index.json", None),
            ("vocab.json", None),
            ("docs.index.json", None),
        ] {
            assert_eq!(shard_extension(name), ext, "{name}");
        }
    }

    #[test]
    fn numbered_names_are_taken_apart() {
        let shard = Numbered::parse("a-b-00002-of-00010.safetensors").expect("a shard");
        assert_eq!((shard.stem, shard.number, shard.total, shard.ext), ("a-b", 2, 10, "safetensors"));
        assert_eq!(shard.sibling(10), "a-b-00010-of-00010.safetensors");
        for other in [
            "model.safetensors",
            "model-1-of-2.safetensors",
            "model-0000x-of-00002.bin",
            "00001-of-00002.bin",
        ] {
            assert_eq!(Numbered::parse(other), None, "{other}");
        }
    }
}
