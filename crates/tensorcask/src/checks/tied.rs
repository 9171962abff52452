//! Whether the output head is the embedding, as `tie_word_embeddings` says.

use super::{Check, CheckCx, Sidecar};
use crate::{
    core::{Result, Rule, TensorInfo, rule},
    elements::{BLOCK_BYTES, Stream},
    wire::json::Node,
};

pub(super) struct TiedHead;

static TIED_HEAD: Rule = rule!("CK003" "tied-head" Structure Warning ["IX16"] "`tie_word_embeddings` and the tensors disagree: untied, but no output head is stored, so loaders make up a random one; or tied, but a head is stored that differs from the embedding, so the stored head is ignored.");

const EMBEDDINGS: &[&str] = &[
    "embed_tokens.weight",
    "wte.weight",
    "word_embeddings.weight",
    "tok_embeddings.weight",
    "embed_in.weight",
];
const HEADS: &[&str] = &["lm_head.weight", "output.weight", "embed_out.weight"];

static RULES: &[&Rule] = &[&TIED_HEAD];

impl Check for TiedHead {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn headers(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        let Some((config, tied)) = tied(cx)? else { return Ok(()) };
        let (embedding, head) = (find(cx, EMBEDDINGS), find(cx, HEADS));
        let message = match (tied, embedding, head) {
            (false, Some(embedding), None) if has_head(&config) => {
                format!("the config says untied, and there is no output head beside `{}`", embedding.name)
            }
            (true, Some(embedding), Some(head))
                if (&embedding.dtype, &embedding.view.shape) != (&head.dtype, &head.view.shape) =>
            {
                format!(
                    "the config says tied; `{}` is {} {}, `{}` is {} {}",
                    embedding.name,
                    embedding.dtype,
                    embedding.view.shape,
                    head.name,
                    head.dtype,
                    head.view.shape
                )
            }
            _ => return Ok(()),
        };
        report(cx, &config, message);
        Ok(())
    }

    fn data(&self, cx: &mut CheckCx<'_>) -> Result<()> {
        let Some((config, true)) = tied(cx)? else { return Ok(()) };
        let (Some(embedding), Some(head)) = (find(cx, EMBEDDINGS), find(cx, HEADS)) else { return Ok(()) };
        if embedding.view.shape != head.view.shape
            || embedding.dtype != head.dtype
            || embedding.is_missing()
            || head.is_missing()
        {
            return Ok(());
        }
        let sources = &cx.checkpoint.sources;
        let a = Stream::new(sources, &embedding.dtype, &embedding.view)?;
        let b = Stream::new(sources, &head.dtype, &head.view)?;
        if !same(&a, &b).map_err(|error| cx.checkpoint.place_error(error))? {
            let message = format!(
                "the config says tied; `{}` and `{}` have different bytes",
                embedding.name, head.name
            );
            report(cx, &config, message);
        }
        Ok(())
    }
}

fn same(a: &Stream<'_>, b: &Stream<'_>) -> Result<bool> {
    let (mut left, mut right) = (vec![0; BLOCK_BYTES], vec![0; BLOCK_BYTES]);
    for at in (0..a.len()).step_by(BLOCK_BYTES) {
        let len = usize::try_from(a.len() - at).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
        a.read(at, &mut left[..len])?;
        b.read(at, &mut right[..len])?;
        if left[..len] != right[..len] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn report(cx: &mut CheckCx<'_>, config: &Sidecar, message: String) {
    let place =
        config.json.get("tie_word_embeddings").map_or(config.span(&config.json), |value| config.span(value));
    let finding = TIED_HEAD.at(place, message).help("correct `tie_word_embeddings`, or store the right head");
    cx.checkpoint.findings.push(finding);
}

/// What the config says, if it says anything.
fn tied(cx: &mut CheckCx<'_>) -> Result<Option<(Sidecar, bool)>> {
    let Some(config) = cx.sidecar("config.json")? else { return Ok(None) };
    let tied = config.json.get("tie_word_embeddings").and_then(crate::wire::json::Json::as_bool);
    Ok(tied.map(|tied| (config, tied)))
}

/// Whether the architecture has an output head over the vocabulary; a classifier has none to miss.
fn has_head(config: &Sidecar) -> bool {
    let Some(Node::Array(names)) = config.json.get("architectures").map(|json| &json.node) else {
        return false;
    };
    names.iter().filter_map(|name| name.as_str()).any(|name| {
        ["ForCausalLM", "LMHeadModel", "ForConditionalGeneration"].iter().any(|end| name.ends_with(end))
    })
}

/// The one tensor whose name ends like this; several are no plain language model.
fn find<'a>(cx: &'a CheckCx<'_>, endings: &[&str]) -> Option<&'a TensorInfo> {
    let is_one = |name: &str| {
        endings
            .iter()
            .any(|end| name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    };
    let mut found = cx.checkpoint.tensors.iter().filter(|tensor| is_one(&tensor.name));
    found.next().filter(|_| found.next().is_none())
}
