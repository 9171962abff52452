//! A document as a tree whose every value knows its place.

use super::{Scanner, Stop};
use crate::core::{Budget, Limit};
use std::ops::Range;

/// A value with its place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Json {
    /// Byte range in the text, quotes and brackets included.
    pub(crate) range: Range<usize>,
    pub(crate) node: Node,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// A number, as it stands in the text.
    Number(String),
    String(String),
    Array(Vec<Json>),
    /// In the order of the text, keys that occur twice included.
    Object(Vec<(Key, Json)>),
}

/// A key with its place.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) offset: usize,
}

/// Deeper than the default limit, shallow enough for the stack of any thread.
const DEEPEST: u64 = 200;

impl Json {
    /// Reads a whole document.
    pub(crate) fn parse(text: &str, budget: &Budget) -> Result<Json, Stop> {
        let mut scanner = Scanner::new(text);
        let value = Json::value(&mut scanner, budget, 1)?;
        scanner.skip_blanks();
        if scanner.peek().is_some() {
            Err(scanner.unexpected("the end of the document").into())
        } else {
            Ok(value)
        }
    }

    fn value(scanner: &mut Scanner<'_>, budget: &Budget, depth: u64) -> Result<Json, Stop> {
        scanner.skip_blanks();
        let start = scanner.offset();
        // An entry of a list costs its text at least two bytes, and us one node.
        budget.charge(Limit::MemoryBytes, size_of::<(Key, Json)>() as u64)?;
        let node = match scanner.peek() {
            Some(open @ (b'{' | b'[')) => {
                budget.fits(Limit::Depth, depth)?;
                if depth > DEEPEST {
                    return Err(scanner.error(format!("values are nested deeper than {DEEPEST}")).into());
                }
                scanner.bump();
                if open == b'{' {
                    Node::Object(Json::list(scanner, b'}', |scanner| {
                        let key = scanner.key()?;
                        let name = scanner.unescape(key).into_owned();
                        let value = Json::value(scanner, budget, depth.saturating_add(1))?;
                        Ok((Key { name, offset: key.start.saturating_sub(1) }, value))
                    })?)
                } else {
                    Node::Array(Json::list(scanner, b']', |scanner| {
                        Json::value(scanner, budget, depth.saturating_add(1))
                    })?)
                }
            }
            Some(b'"') => {
                let string = scanner.string()?;
                budget.charge(Limit::MemoryBytes, string.end.saturating_sub(string.start) as u64)?;
                Node::String(scanner.unescape(string).into_owned())
            }
            Some(b'-' | b'0'..=b'9') => {
                scanner.number()?;
                Node::Number(scanner.since(start).to_owned())
            }
            Some(b't') => scanner.word("true").map(|()| Node::Bool(true))?,
            Some(b'f') => scanner.word("false").map(|()| Node::Bool(false))?,
            _ => scanner.word("null").map(|()| Node::Null)?,
        };
        Ok(Json { range: start..scanner.offset(), node })
    }

    fn list<T>(
        scanner: &mut Scanner<'_>,
        close: u8,
        mut item: impl FnMut(&mut Scanner<'_>) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let mut items = Vec::new();
        scanner.skip_blanks();
        if scanner.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(scanner)?);
            scanner.skip_blanks();
            if scanner.take(close) {
                return Ok(items);
            }
            if !scanner.take(b',') {
                return Err(scanner.unexpected("`,` or the end of the list").into());
            }
        }
    }

    /// The value of the last entry called `key`, as the field's loaders take it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.entries().iter().rev().find(|(k, _)| k.name == key).map(|(_, value)| value)
    }

    /// The entries of an object; none for another value.
    pub(crate) fn entries(&self) -> &[(Key, Json)] {
        match &self.node {
            Node::Object(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.node {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self.node {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Keys that an object holds twice, at any depth.
    pub(crate) fn duplicates(&self) -> Vec<&Key> {
        let mut found = Vec::new();
        let mut todo = vec![self];
        while let Some(value) = todo.pop() {
            match &value.node {
                Node::Object(entries) => {
                    let mut seen = std::collections::HashSet::new();
                    found.extend(
                        entries.iter().filter(|(key, _)| !seen.insert(&key.name)).map(|(key, _)| key),
                    );
                    todo.extend(entries.iter().map(|(_, value)| value));
                }
                Node::Array(items) => todo.extend(items),
                _ => {}
            }
        }
        found
    }
}
