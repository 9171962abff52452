//! The earlier set of shards in a folder that a new set replaces.

/// The files of an earlier set, by their names in the folder.
#[derive(Default)]
pub struct OldSet {
    /// The index file.
    pub index: Option<OldIndex>,
    /// Files that make up the set: those that the index names, or, without an index, those that a reader would take.
    pub shards: Vec<String>,
    /// Weight files of other sets that would be strays beside the new one.
    pub strays: Vec<String>,
}

/// An earlier shard index.
pub struct OldIndex {
    /// Its name.
    pub name: String,
    /// The same index with each shard's name passed through a function; `None` if it is too damaged for that.
    pub renamed: Box<dyn Fn(&dyn Fn(&str) -> String) -> Option<Vec<u8>> + Send + Sync>,
}

impl OldSet {
    /// Every file of the earlier set, in the order in which they are removed: the index first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &String> {
        self.index.iter().map(|index| &index.name).chain(&self.shards).chain(&self.strays)
    }
}
