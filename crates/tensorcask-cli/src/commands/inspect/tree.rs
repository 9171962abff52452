//! `inspect --tree`: names split at their dots, with sizes; numbered siblings that are built alike are one line.

use crate::render::{
    DIM, Out,
    numbers::{counted, name, size},
};
use std::{
    collections::HashMap,
    io::{self, Write},
};
use tensorcask::TensorInfo;

/// Levels that are split; real names have below 20.
const DEEPEST: usize = 64;

#[derive(Default)]
struct Node<'a> {
    /// In the order of the first tensor.
    children: Vec<(&'a str, Node<'a>)>,
    at: HashMap<&'a str, usize>,
    tensor: Option<&'a TensorInfo>,
    n_tensors: u64,
    bytes: u64,
    /// Equal for nodes that are built alike.
    form: usize,
}

/// A numbering of forms: a tensor's type and shape, and the labels and forms of the children.
type Forms<'a> = HashMap<(Option<(&'a str, Shape)>, Vec<(&'a str, usize)>), usize>;
type Shape = Vec<u64>;

/// Writes the tree of all tensors.
pub(super) fn write(out: &mut Out, tensors: &[TensorInfo]) -> io::Result<()> {
    let mut root = Node::default();
    for tensor in tensors {
        root.insert(tensor);
    }
    root.number(&mut Forms::new());
    root.write_children(out, 0)
}

impl<'a> Node<'a> {
    fn insert(&mut self, tensor: &'a TensorInfo) {
        let mut node = self;
        for part in tensor.name.splitn(DEEPEST, '.') {
            node.count(tensor);
            let next = *node.at.entry(part).or_insert(node.children.len());
            if next == node.children.len() {
                node.children.push((part, Node::default()));
            }
            node = &mut node.children[next].1;
        }
        node.count(tensor);
        node.tensor = Some(tensor);
    }

    fn count(&mut self, tensor: &TensorInfo) {
        self.n_tensors += 1;
        self.bytes = self.bytes.saturating_add(tensor.byte_len());
    }

    fn number(&mut self, forms: &mut Forms<'a>) {
        for (_, child) in &mut self.children {
            child.number(forms);
        }
        // Two layers are alike whatever the order of their tensors in the file.
        let mut children: Vec<_> = self.children.iter().map(|(label, child)| (*label, child.form)).collect();
        children.sort_unstable();
        let tensor = self.tensor.map(|tensor| (tensor.dtype.name(), tensor.view.shape.to_vec()));
        let next = forms.len();
        self.form = *forms.entry((tensor, children)).or_insert(next);
    }

    fn write_children(&self, out: &mut Out, depth: usize) -> io::Result<()> {
        // Numbered children by number, then the others as they come.
        let mut children: Vec<(Option<u64>, &str, &Node)> =
            self.children.iter().map(|(label, child)| (number(label), *label, child)).collect();
        children.sort_by_key(|(number, ..)| number.map_or((1, 0), |number| (0, number)));
        let mut rest = children.as_slice();
        while let Some(((number, label, child), after)) = rest.split_first() {
            let mut last = *number;
            let n_alike = after
                .iter()
                .take_while(|(next, _, sibling)| {
                    let follows = last.is_some() && *next == last.and_then(|last| last.checked_add(1));
                    last = if follows { *next } else { last };
                    follows && sibling.form == child.form
                })
                .count();
            let (alike, after) = after.split_at(n_alike);
            let label = match alike.last() {
                Some((_, last, _)) => format!("{}-{}", name(label), name(last)),
                None => name(label).into_owned(),
            };
            child.write(out, depth, &label, 1 + alike.len() as u64)?;
            rest = after;
        }
        Ok(())
    }

    fn write(&self, out: &mut Out, depth: usize, label: &str, n_alike: u64) -> io::Result<()> {
        // A chain of single children is one line: `model.embed_tokens.weight`.
        let (mut node, mut label) = (self, label.to_owned());
        while let ([(next, child)], None) = (node.children.as_slice(), node.tensor) {
            label = format!("{label}.{}", name(next));
            node = child;
        }
        let times = if n_alike > 1 { format!(" x {n_alike}") } else { String::new() };
        let facts = match node.tensor {
            Some(tensor) if node.children.is_empty() => {
                format!("{} {}, {}", name(tensor.dtype.name()), tensor.view.shape, size(node.bytes))
            }
            _ => format!("{}, {}", counted(node.n_tensors, "tensor"), size(node.bytes)),
        };
        let total = if n_alike > 1 {
            format!(" each, {} in all", size(node.bytes.saturating_mul(n_alike)))
        } else {
            String::new()
        };
        let facts = out.paint(DIM, format_args!("{times}  {facts}{total}"));
        writeln!(out, "{:1$}{label}{facts}", "", 2 * depth)?;
        node.write_children(out, depth + 1)
    }
}

/// The number that a label is, if it is one in its plain form.
fn number(label: &str) -> Option<u64> {
    label.parse().ok().filter(|number: &u64| number.to_string() == label)
}
