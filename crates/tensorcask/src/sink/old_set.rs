//! The earlier set of shards in a folder that a new set replaces.

/// The files of an earlier set, by their names in the folder.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct OldSet {
    /// The index file.
    pub index: Option<String>,
    /// Files that make up the set: those that the index names, or, without an index, those that a reader would take.
    pub shards: Vec<String>,
    /// Weight files of other sets that would be strays beside the new one.
    pub strays: Vec<String>,
}

impl OldSet {
    /// Every file of the earlier set, in the order in which they are removed: the index first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &String> {
        self.index.iter().chain(&self.shards).chain(&self.strays)
    }
}

/// What a folder's set is replaced with.
pub(crate) struct Replaced {
    /// What goes.
    pub(crate) set: OldSet,
    /// The new index with each shard's name passed through a function.
    pub(crate) renamed_index: RenamedIndex,
}

/// See [`Replaced::renamed_index`].
pub(crate) type RenamedIndex = Box<dyn Fn(&[u8], &dyn Fn(&str) -> String) -> Option<Vec<u8>> + Send + Sync>;
