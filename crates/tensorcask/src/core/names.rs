//! An index of names over a table that holds them: no copy of a name, eight bytes an entry and some air.

use std::hash::{BuildHasher, RandomState};

/// Open addressing over positions of a table. The hash is keyed, so no file can choose names that collide.
#[derive(Clone, Default)]
pub(crate) struct NameIndex {
    /// Upper half of the hash beside position + 1; 0 is free. The length is a power of two, or 0.
    slots: Vec<(u32, u32)>,
    n_names: usize,
    hasher: RandomState,
}

impl NameIndex {
    /// Room for `n_names` names.
    pub(crate) fn with_room(n_names: usize) -> Self {
        let n_slots = n_names.saturating_mul(4).div_ceil(3).max(8).next_power_of_two();
        NameIndex { slots: vec![(0, 0); n_slots], n_names: 0, hasher: RandomState::new() }
    }

    /// The position at which `name` stands already, else enters it at `position`. `name_at` gives a position's name.
    pub(crate) fn insert<'a>(
        &mut self,
        name: &str,
        position: usize,
        name_at: impl Fn(usize) -> Option<&'a str>,
    ) -> Option<usize> {
        if self.n_names.saturating_mul(4) >= self.slots.len().saturating_mul(3) {
            self.grow(&name_at);
        }
        let hash = self.hasher.hash_one(name);
        let (slot, found) = self.find_slot(hash, name, &name_at);
        if found.is_some() {
            return found;
        }
        let number = u32::try_from(position).ok()?.checked_add(1)?;
        *self.slots.get_mut(slot)? = (upper_half(hash), number);
        self.n_names += 1;
        None
    }

    fn find_slot<'a>(
        &self,
        hash: u64,
        name: &str,
        name_at: &impl Fn(usize) -> Option<&'a str>,
    ) -> (usize, Option<usize>) {
        let mask = self.slots.len().wrapping_sub(1);
        // Only the low bits count, so what `usize` cuts off is not missed.
        #[allow(clippy::cast_possible_truncation)]
        let mut slot = hash as usize & mask;
        while let Some((half, number)) = self.slots.get(slot).filter(|(_, number)| *number != 0) {
            let position = *number as usize - 1;
            // The name itself is far away in memory, so it is looked at only when half of the hash agrees.
            if *half == upper_half(hash) && name_at(position) == Some(name) {
                return (slot, Some(position));
            }
            slot = (slot + 1) & mask;
        }
        (slot, None)
    }

    fn grow<'a>(&mut self, name_at: &impl Fn(usize) -> Option<&'a str>) {
        let mut larger = NameIndex::with_room(self.n_names.max(8) * 2);
        larger.hasher = self.hasher.clone();
        for (half, number) in self.slots.iter().filter(|(_, number)| *number != 0) {
            let Some(name) = name_at(*number as usize - 1) else { continue };
            let (slot, _) = larger.find_slot(larger.hasher.hash_one(name), name, name_at);
            if let Some(free) = larger.slots.get_mut(slot) {
                *free = (*half, *number);
            }
        }
        larger.n_names = self.n_names;
        *self = larger;
    }
}

#[allow(clippy::cast_possible_truncation)]
fn upper_half(hash: u64) -> u32 {
    (hash >> 32) as u32
}
