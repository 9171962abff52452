//! JSON documents: one on standard output, with a schema version, exact integers and no dependence on the terminal.

use crate::report::ErrorRow;
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::io::{self, Write};
use tensorcask::{Metadata, Value};

/// Version of every document's layout.
pub(crate) const SCHEMA: u32 = 1;

/// Items of an array that a document shows; a longer one is only described.
const MOST_ITEMS: usize = 64;

/// Writes one document and a line end.
pub(crate) fn document(out: &mut impl Write, document: &impl Serialize) -> io::Result<()> {
    part(out, document)?;
    out.write_all(b"\n")
}

/// Writes a value without a line end.
pub(crate) fn part(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(out, value).map_err(io::Error::from)
}

/// `{"schema":1,"results":[…]}`
#[derive(Serialize)]
pub(crate) struct Results<'a, T> {
    schema: u32,
    results: &'a [T],
}

impl<'a, T> Results<'a, T> {
    pub(crate) fn new(results: &'a [T]) -> Self {
        Results { schema: SCHEMA, results }
    }
}

/// `{"schema":1,"results":[…]}` written one result at a time, for results that are large.
#[derive(Default)]
pub(crate) struct Stream {
    n_results: u64,
}

impl Stream {
    /// Writes one more result. Nothing is written before the first.
    pub(crate) fn add(&mut self, out: &mut impl Write, result: &impl Serialize) -> io::Result<()> {
        self.separate(out)?;
        self.n_results += 1;
        part(out, result)
    }

    /// Closes the document.
    pub(crate) fn finish(self, out: &mut impl Write) -> io::Result<()> {
        if self.n_results == 0 {
            self.separate(out)?;
        }
        out.write_all(b"]}\n")
    }

    fn separate(&self, out: &mut impl Write) -> io::Result<()> {
        if self.n_results == 0 {
            write!(out, r#"{{"schema":{SCHEMA},"results":["#)
        } else {
            out.write_all(b",")
        }
    }
}

/// `{"schema":1,"error":{…}}`
#[derive(Serialize)]
pub(crate) struct Failed {
    schema: u32,
    error: ErrorRow,
}

impl Failed {
    pub(crate) fn new(error: ErrorRow) -> Self {
        Failed { schema: SCHEMA, error }
    }
}

/// Metadata as an object; of a key that the file repeats, the last value.
pub(crate) struct MetadataObject<'a>(pub(crate) &'a Metadata);

impl Serialize for MetadataObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        object(self.0, serializer)
    }
}

/// A metadata value; a long array is described by its element type and its count.
pub(crate) struct MetadataValue<'a>(pub(crate) &'a Value);

impl Serialize for MetadataValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Str(text) => serializer.serialize_str(text),
            // JSON readers hold integers of 64 bits; a larger one is text.
            Value::Int(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                (Ok(signed), _) => serializer.serialize_i64(signed),
                (_, Ok(unsigned)) => serializer.serialize_u64(unsigned),
                _ => serializer.serialize_str(&number.to_string()),
            },
            Value::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
            Value::Float(number) => serializer.serialize_str(&number.to_string()),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::List(values) if values.len() > MOST_ITEMS => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("array", values.first().map_or("null", kind))?;
                map.serialize_entry("count", &values.len())?;
                map.end()
            }
            Value::List(values) => serializer.collect_seq(values.iter().map(MetadataValue)),
            Value::Map(pairs) => object(pairs, serializer),
            _ => serializer.serialize_unit(),
        }
    }
}

fn object<S: Serializer>(pairs: &Metadata, serializer: S) -> Result<S::Ok, S::Error> {
    // A key of its own for each entry: two equal ones would be two readings of one document.
    let last: std::collections::HashMap<&str, usize> =
        pairs.iter().enumerate().map(|(position, (key, _))| (key.as_str(), position)).collect();
    let kept =
        pairs.iter().enumerate().filter(|(position, (key, _))| last.get(key.as_str()) == Some(position));
    serializer.collect_map(kept.map(|(_, (key, value))| (key.as_str(), MetadataValue(value))))
}

/// The word for a value's type.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Str(_) => "string",
        Value::Int(_) => "integer",
        Value::Float(_) => "float",
        Value::Bool(_) => "boolean",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        _ => "null",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &Value) -> String {
        serde_json::to_string(&MetadataValue(value)).unwrap()
    }

    #[test]
    fn a_long_array_is_described() {
        assert_eq!(text(&Value::List(vec![Value::Int(1); 64])).matches('1').count(), 64);
        assert_eq!(text(&Value::List(vec![Value::Int(1); 65])), r#"{"array":"integer","count":65}"#);
    }

    #[test]
    fn numbers_that_json_readers_lose_are_text() {
        assert_eq!(text(&Value::Int(u64::MAX.into())), "18446744073709551615");
        assert_eq!(text(&Value::Int(i128::from(u64::MAX) + 1)), r#""18446744073709551616""#);
        assert_eq!(text(&Value::Float(f64::NAN)), r#""NaN""#);
    }

    #[test]
    fn of_a_repeated_key_the_last_value_stands() {
        let pairs = vec![("a".into(), Value::Int(1)), ("b".into(), Value::Null), ("a".into(), Value::Int(2))];
        assert_eq!(serde_json::to_string(&MetadataObject(&pairs)).unwrap(), r#"{"b":null,"a":2}"#);
    }
}
