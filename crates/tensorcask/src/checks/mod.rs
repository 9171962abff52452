//! Rules over an opened checkpoint and the files beside it. They know tables and sidecars, never a format.

use crate::{
    checkpoint::Checkpoint,
    core::{Budget, Result, Rule},
    source::Root,
};

/// One family of rules.
pub(crate) trait Check: Sync {
    /// Every rule that it can report.
    fn rules(&self) -> &'static [&'static Rule];

    /// Reports what it finds.
    ///
    /// # Errors
    /// When the environment or a limit stops it.
    fn run(&self, cx: &mut CheckCx<'_>) -> Result<()>;
}

/// What a check works with.
pub(crate) struct CheckCx<'a> {
    pub(crate) checkpoint: &'a mut Checkpoint,
    pub(crate) root: &'a dyn Root,
    pub(crate) budget: &'a Budget,
}

/// Every check.
pub(crate) static ALL: &[&dyn Check] = &[];

/// Runs every check over a checkpoint that was just opened.
pub(crate) fn run(checkpoint: &mut Checkpoint, root: &dyn Root, budget: &Budget) -> Result<()> {
    let mut cx = CheckCx { checkpoint, root, budget };
    ALL.iter().try_for_each(|check| check.run(&mut cx))
}
