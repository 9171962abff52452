//! Every step of a sink is made to fail, and the process is made to die there: what is left must be the old or the new.

use super::{leftover::OWNER, *};
use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

/// No process has a number this large (Linux, `PID_MAX_LIMIT`).
const NOBODY: u32 = 4_194_400;
const INDEX: &str = "index.json";
const SINGLE: &str = "model.w";

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    /// This call fails, the others work.
    Once,
    /// This call and all that follow fail: the process is gone.
    Dead,
}

/// The real system with a fault at one call, or with operations that it does not have.
struct Faulty {
    calls: AtomicUsize,
    at: usize,
    fault: Fault,
    refused: &'static [&'static str],
}

impl Faulty {
    fn at(at: usize, fault: Fault) -> Arc<Self> {
        Arc::new(Faulty { calls: AtomicUsize::new(0), at, fault, refused: &[] })
    }

    fn without(refused: &'static [&'static str]) -> Arc<Self> {
        Arc::new(Faulty { calls: AtomicUsize::new(0), at: usize::MAX, fault: Fault::Once, refused })
    }

    fn ask(&self, what: &str) -> io::Result<()> {
        if self.refused.contains(&what) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let fails = if self.fault == Fault::Once { call == self.at } else { call >= self.at };
        if fails { Err(io::Error::other("injected")) } else { Ok(()) }
    }
}

impl System for Faulty {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.ask("create").and_then(|()| Real.create(path))
    }
    fn preallocate(&self, file: &File, len: u64) -> io::Result<()> {
        self.ask("preallocate").and_then(|()| Real.preallocate(file, len))
    }
    fn write_at(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // A write that fails has often written a part.
        self.ask("write").inspect_err(|_| Real.write_at(file, offset, &bytes[..bytes.len() / 2]).unwrap())?;
        Real.write_at(file, offset, bytes)
    }
    fn sync(&self, file: &File) -> io::Result<()> {
        self.ask("sync").and_then(|()| Real.sync(file))
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.ask("sync_folder").and_then(|()| Real.sync_folder(folder))
    }
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.ask("create_folder").and_then(|()| Real.create_folder(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask("rename").and_then(|()| Real.rename(from, to))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask("rename").and_then(|()| Real.rename_new(from, to))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask("link").and_then(|()| Real.link(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.ask("remove").and_then(|()| Real.remove(path))
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.ask("remove").and_then(|()| Real.remove_folder(path))
    }
}

const OVERWRITE: SinkOptions = SinkOptions { overwrite: true, sync: true };

fn file_of(sink: &Sink, name: &str, content: &str) -> Result<()> {
    let mut part = sink.create(name, content.len() as u64)?;
    part.write(content.as_bytes())?;
    part.sync()
}

fn write_file(system: Arc<dyn System>, target: &Path, content: &str, overwrite: bool) -> Result<()> {
    let sink = Sink::file(system, target, SinkOptions { overwrite, sync: true })?;
    file_of(&sink, "any", content)?;
    sink.commit(&["any".to_owned()])
}

/// A set: its shards hold the generation and their number; an index, when there are two or more, names them a line each.
type Set<'a> = &'a [&'a str];

fn write_set(system: Arc<dyn System>, target: &Path, generation: &str, shards: Set<'_>) -> Result<()> {
    let sink = Sink::folder(system, target, OVERWRITE, |folder| Ok(old_set(folder)))?;
    let mut names: Vec<String> = shards.iter().map(ToString::to_string).collect();
    for (number, name) in shards.iter().enumerate() {
        file_of(&sink, name, &format!("{generation}{number}"))?;
    }
    if shards.len() > 1 {
        file_of(&sink, INDEX, &shards.join("\n"))?;
        names.push(INDEX.to_owned());
    }
    sink.commit(&names)
}

fn old_set(folder: &Path) -> Replaced {
    let renamed_index = Box::new(|index: &[u8], to: &dyn Fn(&str) -> String| {
        let lines = std::str::from_utf8(index).ok()?.lines();
        Some(lines.map(to).collect::<Vec<_>>().join("\n").into_bytes())
    });
    let names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|ext| ext == "w"))
        .collect();
    let set = match fs::read_to_string(folder.join(INDEX)) {
        Ok(index) => {
            let (shards, strays) = names.into_iter().partition(|name| index.lines().any(|line| line == name));
            OldSet { index: Some(INDEX.to_owned()), shards, strays }
        }
        Err(_) => OldSet { index: None, shards: names, strays: Vec::new() },
    };
    Replaced { set, renamed_index }
}

/// What readers of a folder get: by the single file, and by the index.
fn readings(folder: &Path) -> Vec<String> {
    let mut readings: Vec<String> = fs::read_to_string(folder.join(SINGLE)).into_iter().collect();
    if let Ok(index) = fs::read_to_string(folder.join(INDEX)) {
        let shard =
            |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|_| format!("no {name}"));
        readings.push(index.lines().map(shard).collect());
    }
    readings
}

fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

const TWO: Set<'_> = &["1-of-2.w", "2-of-2.w"];
const THREE: Set<'_> = &["1-of-3.w", "2-of-3.w", "3-of-3.w"];
const ONE: Set<'_> = &[SINGLE];

fn content(generation: &str, shards: Set<'_>) -> String {
    let numbers: Vec<String> = (0..shards.len()).map(|number| format!("{generation}{number}")).collect();
    numbers.concat()
}

/// Lets the run fail at every call in turn; gives the number of calls of a run that works.
fn at_every_call(fault: Fault, mut case: impl FnMut(Arc<Faulty>) -> bool) -> usize {
    for at in 0..500 {
        if case(Faulty::at(at, fault)) {
            return at;
        }
    }
    panic!("the run never works");
}

#[test]
fn a_set_in_a_folder_is_old_or_new_at_every_step() {
    let pairs: &[(Set<'_>, Set<'_>)] = &[
        (TWO, THREE),
        (THREE, TWO),
        (TWO, TWO),
        (THREE, THREE),
        (ONE, TWO),
        (TWO, ONE),
        (ONE, ONE),
        (&[], TWO),
        (&[], ONE),
    ];
    for (old, new) in pairs {
        for fault in [Fault::Once, Fault::Dead] {
            OWNER.set(NOBODY);
            let calls = at_every_call(fault, |system| {
                let scratch = tempfile::tempdir().unwrap();
                let folder = scratch.path().join("model");
                fs::create_dir(&folder).unwrap();
                fs::write(folder.join("config.json"), "kept").unwrap();
                if !old.is_empty() {
                    write_set(Arc::new(Real), &folder, "old", old).unwrap();
                }
                let before = listing(&folder);
                let worked = write_set(system.clone(), &folder, "new", new).is_ok();
                let place = format!("{old:?} to {new:?}, {fault:?} at call {}", system.at);

                let (is_old, is_new) = (content("old", old), content("new", new));
                let found = readings(&folder);
                let good = |reading: &String| *reading == is_old || *reading == is_new;
                assert!(found.iter().all(good), "{place}: {found:?}");
                assert!(old.is_empty() || !found.is_empty(), "{place}: nothing to read");
                assert_eq!(fs::read_to_string(folder.join("config.json")).unwrap(), "kept");
                if worked {
                    assert_eq!(found, std::slice::from_ref(&is_new), "{place}");
                } else if !found.contains(&is_new) {
                    let after: Vec<_> =
                        listing(&folder).into_iter().filter(|name| !name.starts_with('.')).collect();
                    assert_eq!(after, before, "{place}: the old set was not touched");
                }

                // The next run finishes the work and clears up.
                let named = leftovers(&folder).unwrap();
                assert_eq!(
                    named,
                    listing(&folder).into_iter().filter(|n| n.starts_with('.')).collect::<Vec<_>>(),
                    "{place}"
                );
                write_set(Arc::new(Real), &folder, "new", new).unwrap();
                assert_eq!(readings(&folder), [is_new], "{place}: the next run");
                let mut want: Vec<String> = new.iter().map(ToString::to_string).collect();
                want.push("config.json".to_owned());
                want.extend((new.len() > 1).then(|| INDEX.to_owned()));
                want.sort();
                assert_eq!(listing(&folder), want, "{place}: the next run");
                worked && system.calls.load(Ordering::SeqCst) <= system.at
            });
            assert!(calls >= 7, "a run of {calls} calls cannot be all of it");
        }
    }
}

#[test]
fn a_new_folder_is_there_whole_or_not_at_all() {
    for fault in [Fault::Once, Fault::Dead] {
        OWNER.set(NOBODY);
        at_every_call(fault, |system| {
            let scratch = tempfile::tempdir().unwrap();
            let folder = scratch.path().join("model");
            let worked = write_set(system.clone(), &folder, "new", TWO).is_ok();
            if folder.exists() {
                assert_eq!(readings(&folder), [content("new", TWO)], "{fault:?} at call {}", system.at);
            } else {
                assert!(!worked);
                write_set(Arc::new(Real), &folder, "new", TWO).unwrap();
            }
            assert_eq!(listing(scratch.path()), ["model"], "the next run clears up");
            worked
        });
    }
}

#[test]
fn a_file_is_old_or_new_at_every_step() {
    for (old, fault) in
        [(None, Fault::Once), (None, Fault::Dead), (Some("old"), Fault::Once), (Some("old"), Fault::Dead)]
    {
        OWNER.set(NOBODY);
        at_every_call(fault, |system| {
            let scratch = tempfile::tempdir().unwrap();
            let target = scratch.path().join("a.w");
            if let Some(old) = old {
                fs::write(&target, old).unwrap();
            }
            let worked = write_file(system.clone(), &target, "the new content", true).is_ok();
            let found = fs::read_to_string(&target).ok();
            assert!(found.as_deref() == old || found.as_deref() == Some("the new content"), "{found:?}");
            assert_eq!(
                leftovers(scratch.path()).unwrap().len(),
                listing(scratch.path()).len() - usize::from(found.is_some())
            );
            write_file(Arc::new(Real), &target, "the new content", true).unwrap();
            assert_eq!(listing(scratch.path()), ["a.w"], "the next run clears up");
            worked
        });
    }
}

#[test]
fn without_rename_a_new_file_is_copied_and_an_existing_one_is_left() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("a.w");
    write_file(Faulty::without(&["rename"]), &target, "first", false).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "first");
    let error = write_file(Faulty::without(&["rename"]), &target, "second", true).unwrap_err();
    assert!(error.to_string().contains("does not rename"), "{error}");
    assert_eq!(fs::read_to_string(&target).unwrap(), "first");
    assert_eq!(listing(scratch.path()), ["a.w"]);
}

#[test]
fn without_rename_a_new_folder_is_filled_and_an_old_set_is_left() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("model");
    write_set(Faulty::without(&["rename", "link"]), &folder, "old", TWO).unwrap();
    assert_eq!(readings(&folder), [content("old", TWO)]);
    for shards in [TWO, THREE] {
        let error = write_set(Faulty::without(&["rename", "link"]), &folder, "new", shards).unwrap_err();
        assert!(error.to_string().contains("left as it"), "{error}");
        assert_eq!(readings(&folder), [content("old", TWO)]);
        assert_eq!(listing(&folder), ["1-of-2.w", "2-of-2.w", INDEX], "nothing is left behind");
    }
    assert_eq!(listing(scratch.path()), ["model"]);
}

#[test]
fn without_links_only_a_set_of_the_same_names_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("model");
    write_set(Arc::new(Real), &folder, "old", TWO).unwrap();
    let error = write_set(Faulty::without(&["link"]), &folder, "new", TWO).unwrap_err();
    assert!(error.to_string().contains("no second name"), "{error}");
    assert_eq!(readings(&folder), [content("old", TWO)]);
    write_set(Faulty::without(&["link"]), &folder, "new", THREE).unwrap();
    assert_eq!(readings(&folder), [content("new", THREE)]);
}

#[test]
fn one_file_does_not_replace_a_shard_of_the_same_name_among_others() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("model");
    write_set(Arc::new(Real), &folder, "old", &[SINGLE, "other.w"]).unwrap();
    let error = write_set(Arc::new(Real), &folder, "new", ONE).unwrap_err();
    assert!(error.to_string().contains("beside other shards"), "{error}");
    assert_eq!(listing(&folder), [INDEX, SINGLE, "other.w"]);

    fs::remove_file(folder.join("other.w")).unwrap();
    fs::write(folder.join(INDEX), SINGLE).unwrap();
    write_set(Arc::new(Real), &folder, "new", ONE).unwrap();
    assert_eq!(listing(&folder), [SINGLE], "an index of this file alone goes");
    assert_eq!(readings(&folder), [content("new", ONE)]);
}

#[test]
fn targets_that_cannot_be_replaced_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name);
    fs::write(path("file"), "old").unwrap();
    fs::create_dir(path("folder")).unwrap();
    let refused = |target: &Path, is_folder: bool, overwrite: bool| {
        check(target, is_folder, overwrite).unwrap_err().to_string()
    };
    assert!(refused(&path("file"), false, false).contains("exists already"));
    assert!(refused(&path("folder"), true, false).contains("exists already"));
    assert!(refused(&path("folder"), false, true).contains("is a folder"));
    assert!(refused(&path("file"), true, true).contains("is not a folder"));
    assert!(refused(&path("absent/file"), false, true).contains("no such folder"));
    assert!(check(&path("folder/"), true, true).unwrap().1);
    assert!(!check(&path("new/"), true, false).unwrap().1);
    #[cfg(unix)]
    assert!(refused(Path::new("/dev/null"), false, true).contains("a device"));
}

#[test]
fn a_target_that_appears_meanwhile_is_not_overwritten() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("a.w");
    let sink = Sink::file(Arc::new(Real), &target, SinkOptions { overwrite: false, sync: false }).unwrap();
    file_of(&sink, "any", "ours").unwrap();
    fs::write(&target, "theirs").unwrap();
    assert!(sink.commit(&["any".to_owned()]).unwrap_err().to_string().contains("exists already"));
    assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
    assert_eq!(listing(scratch.path()), ["a.w"]);
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let scratch = tempfile::tempdir().unwrap();
    let first =
        Sink::folder(Arc::new(Real), scratch.path(), OVERWRITE, |folder| Ok(old_set(folder))).unwrap();
    let second = write_set(Arc::new(Real), scratch.path(), "new", TWO);
    assert!(second.unwrap_err().to_string().contains("another process"));
    drop(first);
    write_set(Arc::new(Real), scratch.path(), "new", TWO).unwrap();
}

#[test]
fn a_temporary_of_a_running_process_is_no_leftover() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("a.w");
    OWNER.set(NOBODY);
    let open = Sink::file(Arc::new(Real), &target, OVERWRITE).unwrap();
    let part = open.create("any", 1).unwrap();
    assert_eq!(leftovers(scratch.path()).unwrap(), [""; 0], "it is locked");
    write_file(Arc::new(Real), &target, "other", true).unwrap();
    assert!(open.staged().exists());
    drop((part, open));
    assert_eq!(listing(scratch.path()), ["a.w"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_kept() {
    use std::os::unix::fs::symlink;
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name);
    fs::create_dir(path("elsewhere")).unwrap();
    fs::write(path("elsewhere/file"), "old").unwrap();
    symlink("elsewhere/file", path("link")).unwrap();
    write_file(Arc::new(Real), &path("link"), "new", true).unwrap();
    assert!(path("link").is_symlink());
    assert_eq!(fs::read_to_string(path("elsewhere/file")).unwrap(), "new");
    assert_eq!(listing(&path("elsewhere")), ["file"]);

    symlink("nowhere", path("dangling")).unwrap();
    let error = write_file(Arc::new(Real), &path("dangling"), "new", true).unwrap_err();
    assert!(error.to_string().contains("is a link to `nowhere`, which does not exist"), "{error}");
    assert!(error.help().is_some() && !path("nowhere").exists());

    symlink("elsewhere", path("folder")).unwrap();
    write_set(Arc::new(Real), &path("folder"), "new", TWO).unwrap();
    assert_eq!(readings(&path("elsewhere")), [content("new", TWO)]);
}

#[cfg(unix)]
#[test]
fn modes_are_what_the_umask_leaves() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = tempfile::tempdir().unwrap();
    let mode = |name: &str| fs::metadata(scratch.path().join(name)).unwrap().permissions().mode() & 0o777;
    // What an ordinary file gets here; the umask itself belongs to the whole process and is left alone.
    fs::write(scratch.path().join("ordinary"), "").unwrap();
    write_file(Arc::new(Real), &scratch.path().join("a.w"), "new", false).unwrap();
    assert_eq!(mode("a.w"), mode("ordinary"));
    write_set(Arc::new(Real), &scratch.path().join("set"), "new", TWO).unwrap();
    assert_eq!(mode("set/1-of-2.w"), mode("ordinary"));
    fs::create_dir(scratch.path().join("ordinary-folder")).unwrap();
    assert_eq!(mode("set"), mode("ordinary-folder"));
}

#[test]
fn a_name_at_the_file_systems_limit_can_be_written() {
    let scratch = tempfile::tempdir().unwrap();
    let name = "é".repeat(125) + ".w";
    write_file(Arc::new(Real), &scratch.path().join(&name), "new", false).unwrap();
    assert_eq!(listing(scratch.path()), [name]);
}
