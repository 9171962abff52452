//! The BLAKE3 digest of one tensor's elements from pieces that were hashed apart.
//!
//! BLAKE3 is a binary tree whose left subtrees hold a power of two of 1024-byte chunks (BLAKE3 paper, 2.1). A piece
//! that starts at a multiple of [`PIECE_BYTES`] and is that long, or ends the input, is a subtree; so pieces can be
//! hashed on any thread and merged in order.

use blake3::{
    Hasher,
    hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root},
};

/// Bytes of a piece: a power of two that stays in the second-level cache between read, hash and write.
pub(super) const PIECE_BYTES: u64 = 1 << 20;

/// The subtree of the piece that starts at byte `start` of an input of more than one piece.
pub(super) fn subtree(start: u64, piece: &[u8]) -> ChainingValue {
    let mut hasher = Hasher::new();
    hasher.set_input_offset(start);
    hasher.update(piece);
    hasher.finalize_non_root()
}

/// Subtrees put together from the left.
#[derive(Default)]
pub(super) struct Tree {
    /// Complete subtrees, the largest first.
    stack: Vec<ChainingValue>,
    n_pieces: u64,
}

impl Tree {
    /// Adds the next piece's subtree.
    pub(super) fn push(&mut self, subtree: ChainingValue) {
        // Two subtrees of one size are merged only when more follows: the last merge is the root, which is another
        // function. As many stay as the number of pieces has ones in binary.
        while self.stack.len() > self.n_pieces.count_ones() as usize {
            self.merge_last();
        }
        self.stack.push(subtree);
        self.n_pieces += 1;
    }

    fn merge_last(&mut self) {
        if let (Some(right), Some(left)) = (self.stack.pop(), self.stack.pop()) {
            self.stack.push(merge_subtrees_non_root(&left, &right, Mode::Hash));
        }
    }

    /// The digest; the tree is empty afterwards. Two pieces at least were added.
    pub(super) fn finish(&mut self) -> [u8; 32] {
        while self.stack.len() > 2 {
            self.merge_last();
        }
        let root = match &self.stack[..] {
            [left, right] => merge_subtrees_root(left, right, Mode::Hash).into(),
            _ => [0; 32],
        };
        *self = Tree::default();
        root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_the_digest_of_the_whole() {
        let piece = usize::try_from(PIECE_BYTES).unwrap();
        for len in
            [piece + 1, 2 * piece - 1, 2 * piece, 3 * piece, 5 * piece + 1025, 8 * piece, 11 * piece + 7]
        {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 31 + at / 977).to_le_bytes()[0]).collect();
            let mut tree = Tree::default();
            for (number, part) in bytes.chunks(piece).enumerate() {
                tree.push(subtree(number as u64 * PIECE_BYTES, part));
            }
            assert_eq!(tree.finish(), *blake3::hash(&bytes).as_bytes(), "{len} bytes");
        }
    }
}
