//! Writes a plan: read, hashed and written in one pass, synced beside the proof, and only then put in its place.

use super::{
    lanes::in_order,
    plan::Plan,
    proof,
    receipt::{Receipt, ReceiptRow},
    tree::{Tree, subtree},
    units::{Part, Unit, Units, Work},
};
use crate::{
    checkpoint::Checkpoint,
    core::{Error, Result},
    elements::Stream,
    format::Segment,
    ops::{
        Progress,
        hash::{Digest, tensor_digest},
    },
    sink::{self, Sink, SinkOptions},
};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Files that may wait for their sync: each is an open file.
const UNSYNCED_FILES: usize = 16;

impl Plan {
    /// Writes the plan and proves it.
    ///
    /// `ck` is the checkpoint that was planned for. Memory does not grow with the weights.
    ///
    /// # Errors
    /// What the system says; [`Error::Unsupported`] when the finished output does not read back as planned. Then, and
    /// whenever the process dies, what was at the target before is there still.
    pub fn run(&self, ck: &Checkpoint, progress: &dyn Progress) -> Result<Receipt> {
        let options = SinkOptions { overwrite: self.overwrite, sync: self.sync };
        let sink = self.destination.open(options)?;
        let (written, proved) = std::thread::scope(|scope| {
            let (unsynced, parts) = sync_channel(UNSYNCED_FILES);
            let syncing = scope.spawn(move || sync_all(&parts, self.sync));
            let written = write(self, ck, &sink, &unsynced, progress);
            drop(unsynced);
            // The proof reads what the kernel holds while the same bytes go to the disk.
            let outcome =
                written.and_then(|written| Ok((proof::prove(self, sink.staged(), progress)?, written)));
            let synced = syncing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let (proved, written) = outcome?;
            synced?;
            Ok::<_, Error>((written, proved))
        })?;
        let rows = self.targets.iter().zip(written.iter().zip(&proved)).map(|(target, (written, proved))| {
            let expected = tensor_digest(&target.spec.dtype, &target.spec.shape, written);
            ReceiptRow {
                source_names: ck
                    .tensors
                    .get(target.source)
                    .map(|tensor| tensor.name.clone())
                    .into_iter()
                    .collect(),
                name: target.spec.name.clone(),
                steps: target.steps.clone(),
                // No step changes a value yet: what was read is what was written.
                source_digest: expected,
                expected_digest: expected,
                target_digest: *proved,
                equal: expected == *proved,
            }
        });
        let tensors: Vec<ReceiptRow> = rows.collect();
        if let Some(row) = tensors.iter().find(|row| !row.equal) {
            return Err(proof::failed(
                self,
                &format!("tensor `{}` reads back with other bytes than were written", row.name),
            ));
        }
        let names: Vec<String> = self.files.iter().map(|file| file.name.clone()).collect();
        sink.commit(&names)?;
        Ok(Receipt {
            source: ck.path.clone(),
            target: self.target.clone(),
            lossless: self.is_lossless(),
            losses: self.losses.clone(),
            tensors,
        })
    }
}

fn sync_all(parts: &Receiver<sink::Part>, sync: bool) -> Result<()> {
    let mut outcome = Ok(());
    // To the end, even after an error: the writer waits for room.
    for part in parts {
        if sync && outcome.is_ok() {
            outcome = part.sync();
        }
    }
    outcome
}

/// The digest of a part: of the whole tensor, or of a subtree.
type Hashes = Vec<Digest>;

/// Writes every file; the digests of the elements as they were read.
fn write(
    plan: &Plan,
    ck: &Checkpoint,
    sink: &Sink,
    unsynced: &SyncSender<sink::Part>,
    progress: &dyn Progress,
) -> Result<Hashes> {
    progress.start("write", plan.bytes);
    let mut digests = Digests::new(plan);
    let mut open: Option<(usize, sink::Part)> = None;
    let take = |unit: &Unit, hashes: Hashes, bytes: &[u8]| {
        if open.as_ref().is_none_or(|(file, _)| *file != unit.file) {
            let Some(file) = plan.files.get(unit.file) else { return Ok(()) };
            let next = sink.create(&file.name, plan.file_len(file))?;
            if let Some((_, done)) = open.replace((unit.file, next)) {
                let _ = unsynced.send(done); // the other side takes until this side is gone
            }
        }
        let Some((_, part)) = &mut open else { return Ok(()) };
        let bytes = match &unit.work {
            Work::Bytes(segment) => {
                match plan.files.get(unit.file).and_then(|file| file.segments.get(*segment)) {
                    Some(Segment::Bytes(bytes)) => bytes,
                    _ => bytes,
                }
            }
            Work::Tensors(parts) => {
                digests.take(parts, hashes);
                bytes
            }
        };
        part.write(bytes)?;
        progress.add(bytes.len() as u64);
        Ok(())
    };
    let read = |unit: &Unit, buffer: &mut Vec<u8>| match &unit.work {
        Work::Bytes(_) => Ok(Vec::new()),
        Work::Tensors(parts) => read_and_hash(plan, ck, parts, buffer),
    };
    in_order(Units::new(&plan.files, &plan.targets), read, take)?;
    if let Some((_, done)) = open {
        let _ = unsynced.send(done);
    }
    Ok(digests.elements)
}

/// Reads the parts one after the other into `buffer` and hashes each.
fn read_and_hash(plan: &Plan, ck: &Checkpoint, parts: &[Part], buffer: &mut Vec<u8>) -> Result<Hashes> {
    let mut hashes = Vec::new();
    for part in parts {
        let tensor = plan.targets.get(part.target).and_then(|target| ck.tensors.get(target.source));
        let tensor =
            tensor.ok_or_else(|| Error::usage("the plan was made for another checkpoint", "plan again"))?;
        let from = buffer.len();
        buffer.resize(from + part.len, 0);
        Stream::new(&ck.sources, &tensor.dtype, &tensor.view)
            .and_then(|stream| stream.read(part.start, &mut buffer[from..]))
            .map_err(|error| ck.place_error(error))?;
        let bytes = &buffer[from..];
        hashes.push(if part.is_whole { blake3::hash(bytes).into() } else { subtree(part.start, bytes) });
    }
    Ok(hashes)
}

/// The digests of all elements, filled in the order of the files.
struct Digests {
    elements: Vec<Digest>,
    tree: Tree,
}

impl Digests {
    fn new(plan: &Plan) -> Self {
        Digests { elements: vec![[0; 32]; plan.targets.len()], tree: Tree::default() }
    }

    fn take(&mut self, parts: &[Part], hashes: Hashes) {
        for (part, hash) in parts.iter().zip(hashes) {
            let digest = if part.is_whole {
                hash
            } else {
                self.tree.push(hash);
                if !part.is_last {
                    continue;
                }
                self.tree.finish()
            };
            if let Some(slot) = self.elements.get_mut(part.target) {
                *slot = digest;
            }
        }
    }
}
