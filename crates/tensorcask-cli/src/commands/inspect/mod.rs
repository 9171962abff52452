//! `inspect PATH…`: what is in it.

mod document;
mod header;
mod slice;
mod table;
mod tree;
mod values;

use super::{Exit, Targets, failure, options};
use crate::{
    args::InspectArgs,
    progress::Bar,
    render::{
        Out,
        json::{self, MetadataValue},
        numbers::{counted, escape, name, size, steers},
        text,
    },
};
use anyhow::Result;
use document::{Document, Places};
use serde::Serialize;
use std::io::{self, Write};
use tensorcask::{
    Checkpoint, Error, Value,
    ops::hash::{digest_text, element_digest},
};
use values::{Elements, Part};

/// `inspect PATH…`
pub(crate) fn run(args: &InspectArgs, out: &mut Out) -> Result<Exit> {
    let options = options(&args.reading);
    let targets = Targets::find(&args.paths, &options);
    let (is_one, skipped, n_results) = (targets.is_one(), targets.skipped, targets.items.len());
    let mut show = Show { args, is_one, stream: json::Stream::default(), n_shown: 0 };
    let mut unfinished = false;
    for item in targets.items {
        let path = item.path.clone();
        let read = item.read(&options).map_err(anyhow::Error::from);
        match read.and_then(|checkpoint| show.result(out, &checkpoint)) {
            Ok(()) => {}
            Err(error) if is_one => return Err(error),
            Err(error) => {
                unfinished = true;
                show.failure(out, &failure(&path, error)?)?;
            }
        }
    }
    if args.talk.json {
        show.stream.finish(out)?;
    } else if !args.talk.quiet && !is_one {
        writeln!(out, "\n{}, {skipped} skipped", counted(n_results as u64, "result"))?;
    }
    Ok(Exit::of(false, unfinished))
}

/// What was asked for besides the table.
enum Extra<'a> {
    Nothing,
    Headers(Vec<Header<'a>>),
    Tensor(Box<Tensor<'a>>),
    Metadata(&'a str, &'a Value),
}

/// The text of one header.
#[derive(Serialize)]
struct Header<'a> {
    file: &'a str,
    offset: u64,
    length: u64,
    text: String,
}

/// One tensor with its values.
#[derive(Serialize)]
struct Tensor<'a> {
    name: &'a str,
    dtype: &'a str,
    shape: &'a [u64],
    bytes: u64,
    /// Of the elements alone; the digest that `hash` gives covers type and shape too.
    elements_digest: Option<String>,
    slice: Option<&'a str>,
    slice_shape: Vec<u64>,
    values: serde_json::Value,
}

/// Shows one result after the other.
struct Show<'a> {
    args: &'a InspectArgs,
    is_one: bool,
    stream: json::Stream,
    n_shown: u64,
}

impl Show<'_> {
    fn failure(&mut self, out: &mut Out, failed: &crate::report::Failure) -> io::Result<()> {
        if self.args.talk.json {
            return self.stream.add(out, failed);
        }
        if self.args.talk.quiet {
            return Ok(());
        }
        self.separate(out)?;
        text::failure(out, failed)
    }

    /// A blank line between results.
    fn separate(&mut self, out: &mut Out) -> io::Result<()> {
        self.n_shown += 1;
        if self.n_shown > 1 { writeln!(out) } else { Ok(()) }
    }

    fn result(&mut self, out: &mut Out, checkpoint: &Checkpoint) -> Result<()> {
        if self.args.talk.json {
            let extra = extra(self.args, checkpoint)?;
            self.stream.add(out, &Document { checkpoint, extra: &extra })?;
            return Ok(());
        }
        if self.args.talk.quiet {
            return Ok(());
        }
        if let Some(key) = &self.args.metadata {
            let value = metadata(checkpoint, key)?;
            self.separate_named(out, checkpoint)?;
            return Ok(write_value(out, value)?);
        }
        if let Some(name) = &self.args.tensor {
            let part = Asked::new(checkpoint, name, self.args.slice.as_deref())?;
            self.separate_named(out, checkpoint)?;
            return part.text(out);
        }
        if self.args.header {
            let headers = headers(checkpoint)?;
            self.separate_named(out, checkpoint)?;
            for header in &headers {
                if headers.len() > 1 {
                    writeln!(out, "{}:", name(header.file))?;
                }
                writeln!(out, "{}", header::lines(&header.text))?;
            }
            return Ok(());
        }
        self.separate(out)?;
        if self.args.tree {
            table::head(out, checkpoint)?;
            return Ok(tree::write(out, &checkpoint.tensors)?);
        }
        Ok(table::write(out, checkpoint, self.args.talk.verbose)?)
    }

    /// Names the path, when there are several.
    fn separate_named(&mut self, out: &mut Out, checkpoint: &Checkpoint) -> io::Result<()> {
        self.separate(out)?;
        if self.is_one { Ok(()) } else { table::head(out, checkpoint) }
    }
}

fn extra<'a>(args: &'a InspectArgs, checkpoint: &'a Checkpoint) -> Result<Extra<'a>> {
    if let Some(key) = &args.metadata {
        return Ok(Extra::Metadata(key, metadata(checkpoint, key)?));
    }
    if let Some(name) = &args.tensor {
        let asked = Asked::new(checkpoint, name, args.slice.as_deref())?;
        return Ok(Extra::Tensor(Box::new(asked.document()?)));
    }
    if args.header {
        return Ok(Extra::Headers(headers(checkpoint)?));
    }
    Ok(Extra::Nothing)
}

fn metadata<'a>(checkpoint: &'a Checkpoint, key: &str) -> Result<&'a Value, Error> {
    checkpoint.metadata_value(key).ok_or_else(|| {
        let keys: Vec<_> = checkpoint.metadata.iter().take(20).map(|(key, _)| format!("`{key}`")).collect();
        let help = if keys.is_empty() {
            "there is no metadata".into()
        } else {
            format!("its keys are {}", keys.join(", "))
        };
        Error::usage(format!("`{}` has no metadata `{key}`", checkpoint.path.display()), help)
    })
}

/// A value by itself: as it is, but what a terminal would obey is escaped where one is looking.
fn write_value(out: &mut Out, value: &Value) -> io::Result<()> {
    let text = match value {
        Value::Str(text) => text.to_string(),
        other => serde_json::to_string(&MetadataValue(other)).map_err(io::Error::from)?,
    };
    if !out.is_terminal {
        return writeln!(out, "{text}");
    }
    for line in text.split_inclusive(['\n', '\t']) {
        let plain = line.trim_end_matches(['\n', '\t']);
        write!(
            out,
            "{}{}",
            if plain.contains(steers) { escape(plain) } else { plain.into() },
            &line[plain.len()..]
        )?;
    }
    writeln!(out)
}

fn headers(checkpoint: &Checkpoint) -> Result<Vec<Header<'_>>, Error> {
    if checkpoint.headers.is_empty() {
        let message = format!("{} holds no header that is text and could be read", checkpoint.format);
        return Err(Error::Unsupported { path: checkpoint.path.clone(), message });
    }
    let header = |span: &tensorcask::Span| {
        Ok(Header {
            file: &checkpoint.sources.get(span.source).name,
            offset: span.start,
            length: span.len,
            text: header::text(checkpoint, *span)?,
        })
    };
    checkpoint.headers.iter().map(header).collect()
}

/// One tensor and the part of it that is to be shown.
struct Asked<'a> {
    checkpoint: &'a Checkpoint,
    tensor: &'a tensorcask::TensorInfo,
    slice: Option<&'a str>,
    axes: Vec<slice::Axis>,
}

impl<'a> Asked<'a> {
    fn new(checkpoint: &'a Checkpoint, name: &str, slice: Option<&'a str>) -> Result<Self, Error> {
        let tensor = checkpoint.tensor(name).ok_or_else(|| no_tensor(checkpoint, name))?;
        let axes = slice::parse(slice, &tensor.view.shape)?;
        Ok(Asked { checkpoint, tensor, slice, axes })
    }

    /// `None` where the bytes are not here.
    fn digest(&self) -> Result<Option<String>, Error> {
        if self.tensor.is_missing() || Elements::new(self.checkpoint, self.tensor).is_none() {
            return Ok(None);
        }
        let bar = Bar::new();
        let digest = element_digest(&self.checkpoint.sources, self.tensor, &bar)?;
        Ok(Some(digest_text(&digest)))
    }

    /// The elements, where they are here and have a size.
    fn elements(&self) -> Option<Elements<'a>> {
        Elements::new(self.checkpoint, self.tensor).filter(|_| !self.tensor.is_missing())
    }

    fn document(&self) -> Result<Tensor<'a>, Error> {
        let part = Part::new(&self.axes, &self.tensor.view.shape);
        let values = match self.elements() {
            Some(mut elements) => part.json(&mut elements)?,
            None => serde_json::Value::Null,
        };
        Ok(Tensor {
            name: &self.tensor.name,
            dtype: self.tensor.dtype.name(),
            shape: &self.tensor.view.shape,
            bytes: self.tensor.byte_len(),
            elements_digest: self.digest()?,
            slice: self.slice,
            slice_shape: part.shape(),
            values,
        })
    }

    fn text(&self, out: &mut Out) -> Result<()> {
        let tensor = self.tensor;
        let (file, offset) = Places::of(self.checkpoint).place(tensor);
        let digest = self.digest()?;
        writeln!(
            out,
            "{}: {} {}, {}",
            name(&tensor.name),
            name(tensor.dtype.name()),
            tensor.view.shape,
            size(tensor.byte_len())
        )?;
        let file = file.map(|file| format!("{} @ ", name(&file))).unwrap_or_default();
        writeln!(out, "  --> {file}{}", table::place(tensor, offset))?;
        if let Some(digest) = digest {
            writeln!(out, "   = elements: {digest}")?;
        }
        let Some(mut elements) = self.elements() else { return Ok(()) };
        let part = Part::new(&self.axes, &tensor.view.shape);
        if let Some(slice) = self.slice {
            writeln!(out, "   = slice: [{slice}], shape {:?}", part.shape())?;
        }
        part.text(out, &mut elements)
    }
}

/// Says which names come near.
fn no_tensor(checkpoint: &Checkpoint, wanted: &str) -> Error {
    let near = checkpoint.tensors.iter().filter(|tensor| tensor.name.contains(wanted)).take(5);
    let near: Vec<_> = near.map(|tensor| format!("`{}`", tensor.name)).collect();
    let help = if near.is_empty() {
        "`tensorcask inspect` lists the names".to_owned()
    } else {
        format!("names that hold this: {}", near.join(", "))
    };
    Error::usage(format!("no tensor is called `{wanted}`"), help)
}
