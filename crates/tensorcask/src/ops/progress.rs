//! How a long job tells its caller where it is.

/// Told as work proceeds, from any thread.
pub trait Progress: Sync {
    /// A stage of the job begins; it will handle `bytes` bytes.
    fn start(&self, stage: &str, bytes: u64) {
        let _ = (stage, bytes);
    }

    /// `bytes` more bytes are done.
    fn add(&self, bytes: u64) {
        let _ = bytes;
    }
}

/// Nobody listens.
impl Progress for () {}
