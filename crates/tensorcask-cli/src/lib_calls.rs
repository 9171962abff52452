//! Calls into the library that are not there yet.

use tensorcask::Rule;

pub(crate) fn rules() -> Vec<&'static Rule> {
    tensorcask::formats::ALL.iter().flat_map(|format| format.info().rules).copied().collect()
}
