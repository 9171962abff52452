//! The import table of `ARCHITECTURE.md` against every `crate::` and `super::` path of the library; and what else must
//! stand in one place only.

use crate::cases::repository;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A source file without comments, strings and test modules.
struct Code {
    /// Its path below `src`, with `/`.
    name: String,
    /// Its module path: `["formats", "safetensors", "read"]`.
    module: Vec<String>,
    /// Each token is a word, `::` or one other character.
    tokens: Vec<String>,
    /// The string literals that were taken out.
    strings: Vec<String>,
}

impl Code {
    fn new(name: &str, text: &str) -> Code {
        let mut module: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib")) {
            module.pop();
        }
        let (tokens, strings) = tokens(text);
        Code { name: name.to_owned(), module, tokens: without_tests(&tokens), strings }
    }

    /// The row of the table that holds for this file.
    fn row(&self) -> String {
        match self.module.first().map(String::as_str) {
            Some("formats") if self.module.len() > 1 => "formats/<name>".to_owned(),
            Some(first) => first.to_owned(),
            None => "lib".to_owned(),
        }
    }
}

/// Words, `::` and single characters, with comments and literals left out; and the string literals.
fn tokens(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut found, mut strings) = (Vec::new(), Vec::new());
    let chars: Vec<char> = text.chars().collect();
    let at_is = |at: usize, what: &str| what.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if at_is(at, "//") {
            while chars.get(at).is_some_and(|c| *c != '\n') {
                at += 1;
            }
        } else if at_is(at, "/*") {
            while at < chars.len() && !at_is(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if c == '"' {
            let start = at + 1;
            at = start;
            while chars.get(at).is_some_and(|c| *c != '"') {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            strings.push(chars[start..at.min(chars.len())].iter().collect());
            at += 1;
        } else if c == 'r' && (at_is(at + 1, "\"") || at_is(at + 1, "#\"") || at_is(at + 1, "##\"")) {
            let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
            let end = format!("\"{}", "#".repeat(hashes));
            let start = at + 2 + hashes;
            at = start;
            while at < chars.len() && !at_is(at, &end) {
                at += 1;
            }
            strings.push(chars[start..at.min(chars.len())].iter().collect());
            at += end.len();
        } else if c == '\'' {
            // A character literal; else a lifetime, whose word does no harm.
            if chars.get(at + 1) == Some(&'\\') {
                at += 3;
                while chars.get(at).is_some_and(|c| *c != '\'') {
                    at += 1;
                }
                at += 1;
            } else {
                at += if chars.get(at + 2) == Some(&'\'') { 3 } else { 1 };
            }
        } else if is_word(c) {
            let start = at;
            while chars.get(at).is_some_and(|c| is_word(*c)) {
                at += 1;
            }
            found.push(chars[start..at].iter().collect());
        } else if at_is(at, "::") {
            found.push("::".to_owned());
            at += 2;
        } else {
            if !c.is_whitespace() {
                found.push(c.to_string());
            }
            at += 1;
        }
    }
    (found, strings)
}

/// Leaves out every item under `#[cfg(test)]`: up to its `;`, or to the brace that closes it.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
        if tokens[at..].iter().zip(attribute).filter(|(token, wanted)| *token == wanted).count()
            == attribute.len()
        {
            let mut depth = 0_usize;
            at += attribute.len();
            while let Some(token) = tokens.get(at) {
                at += 1;
                match token.as_str() {
                    "{" => depth += 1,
                    "}" if depth == 1 => break,
                    "}" => depth -= 1,
                    ";" if depth == 0 => break,
                    _ => {}
                }
            }
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Every path that starts with `crate` or `super`, from the root of the crate on; those of a `use` tree one by one.
fn paths(code: &Code) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut modules = BTreeSet::new();
    for (at, token) in code.tokens.iter().enumerate() {
        let starts = at == 0 || code.tokens[at - 1] != "::";
        if starts
            && matches!(token.as_str(), "crate" | "super")
            && code.tokens.get(at + 1).is_some_and(|t| t == "::")
        {
            let mut base = if token == "crate" { Vec::new() } else { code.module.clone() };
            if token == "super" {
                base.pop();
            }
            tree(&code.tokens, at + 2, &base, &mut found);
        }
    }
    // A module that was imported by name is gone through by name: `formats::ALL` after `use crate::formats`.
    modules.extend(found.iter().filter(|path| path.len() == 1).map(|path| path[0].clone()));
    for (at, token) in code.tokens.iter().enumerate() {
        let starts = at == 0 || !matches!(code.tokens[at - 1].as_str(), "::" | ".");
        if starts && modules.contains(token) && code.tokens.get(at + 1).is_some_and(|t| t == "::") {
            tree(&code.tokens, at + 2, std::slice::from_ref(token), &mut found);
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Follows a path from a position behind a `::`; gives the position behind it.
fn tree(tokens: &[String], mut at: usize, base: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = base.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("super") => {
                path.pop();
                at += 1;
            }
            Some("{") => {
                at += 1;
                while let Some(token) = tokens.get(at) {
                    match token.as_str() {
                        "}" => return at + 1,
                        "," => at += 1,
                        _ => at = tree(tokens, at, &path, found),
                    }
                }
                return at;
            }
            Some("self" | "*") => {
                found.push(path);
                return if tokens.get(at + 1).is_some_and(|token| token == "as") { at + 3 } else { at + 1 };
            }
            Some(word) if word.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                path.push(word.to_owned());
                at += 1;
            }
            _ => {
                found.push(path);
                return at.max(1);
            }
        }
        if tokens.get(at).is_some_and(|token| token == "::") {
            at += 1;
        } else {
            // `as name` renames and imports nothing more.
            if tokens.get(at).is_some_and(|token| token == "as") {
                at += 2;
            }
            found.push(path);
            return at;
        }
    }
}

/// The table: for each row the paths that it may import.
fn table() -> BTreeMap<String, Vec<Vec<String>>> {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there");
    let (_, text) = text.split_once("| module | may import |").expect("it has the table");
    let mut rows = BTreeMap::new();
    for line in text.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let quoted =
            |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let allowed = quoted(cells[2]);
        let allowed = allowed.iter().map(|path| path.split("::").map(str::to_owned).collect()).collect();
        let module = quoted(cells[1]).into_iter().next().expect("a row names its module");
        rows.insert(module, allowed);
    }
    rows
}

/// Names that stand at the root of the crate, and the module that each comes from.
fn root_names(lib: &Code) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let mut found = Vec::new();
    for (at, token) in lib.tokens.iter().enumerate() {
        if token == "use" && lib.tokens[at - 1] == "pub" {
            tree(&lib.tokens, at + 1, &[], &mut found);
        }
    }
    for path in found {
        if let [module, .., name] = &path[..] {
            names.insert(name.clone(), module.clone());
        }
    }
    names
}

/// Says which imports of a file the table does not allow.
fn violations(
    code: &Code,
    table: &BTreeMap<String, Vec<Vec<String>>>,
    root_names: &BTreeMap<String, String>,
    modules: &BTreeSet<String>,
) -> Vec<String> {
    let row = code.row();
    let Some(allowed) = table.get(&row) else {
        return vec![format!("{}: the table has no row for `{row}`", code.name)];
    };
    let own: &[String] = match row.as_str() {
        "formats/<name>" => &code.module[..2],
        _ => &code.module[..1],
    };
    let mut wrong = Vec::new();
    for mut path in paths(code) {
        // A type that the crate shows at its root is one of its module's; a module of that name is the module.
        if let Some(module) = path.first().and_then(|first| root_names.get(first))
            && !modules.contains(&path[0])
        {
            path.insert(0, module.clone());
        }
        let inside = path.starts_with(own) || own.starts_with(&path);
        let may = allowed.iter().any(|allowed| {
            // `use crate::formats` itself names nothing yet; what is named through it is a path of its own.
            path.starts_with(allowed) || (path.len() == 1 && allowed.first() == path.first())
        });
        if !inside && !may {
            wrong.push(format!("{}: `{row}` may not import `{}`", code.name, path.join("::")));
        }
    }
    wrong
}

/// Every file of the library that is no test.
fn library() -> Vec<Code> {
    fn walk(folder: &Path, prefix: &str, found: &mut Vec<Code>) {
        for entry in fs::read_dir(folder).expect("src can be listed") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else if Path::new(&name).extension().is_some_and(|ext| ext == "rs")
                && !name.ends_with("tests.rs")
                && name != "fuzzing.rs"
            {
                let text = fs::read_to_string(entry.path()).expect("a source file is text");
                found.push(Code::new(&name, &text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 40, "only {} files", found.len());
    found
}

struct Crate {
    files: Vec<Code>,
    table: BTreeMap<String, Vec<Vec<String>>>,
    root_names: BTreeMap<String, String>,
    modules: BTreeSet<String>,
}

impl Crate {
    fn read() -> Crate {
        let files = library();
        let modules = files.iter().filter_map(|code| code.module.first().cloned()).collect();
        let lib = files.iter().find(|code| code.name == "lib.rs").expect("the crate has a root");
        Crate { table: table(), root_names: root_names(lib), modules, files }
    }

    fn violations(&self, code: &Code) -> Vec<String> {
        violations(code, &self.table, &self.root_names, &self.modules)
    }
}

#[test]
fn every_import_is_in_the_table() {
    let library = Crate::read();
    let wrong: Vec<String> = library
        .files
        .iter()
        .filter(|code| code.name != "lib.rs")
        .flat_map(|code| library.violations(code))
        .collect();
    assert!(wrong.is_empty(), "{} imports against ARCHITECTURE.md:\n{}", wrong.len(), wrong.join("\n"));
    for row in library.table.keys() {
        let known = row == "formats/<name>" || library.modules.contains(row);
        assert!(known, "the table has a row for `{row}`, the crate has no such module");
    }
}

#[test]
fn the_example_violation_is_caught() {
    let library = Crate::read();
    let example = include_str!("example_violation.rs.txt");
    let wrong = library.violations(&Code::new("formats/safetensors/example.rs", example));
    let expected: Vec<String> = [
        "checks",
        "checks::headers",
        "formats::sharded",
        "formats::sharded::index",
        "formats::sharded::index::Index",
        "open",
        "ops::hash",
    ]
    .iter()
    .map(|path| format!("formats/safetensors/example.rs: `formats/<name>` may not import `{path}`"))
    .collect();
    assert_eq!(wrong, expected);
}

#[test]
fn unsafe_code_stands_in_one_file() {
    let with: Vec<String> = library()
        .into_iter()
        .filter(|code| code.tokens.iter().any(|token| token == "unsafe"))
        .map(|code| code.name)
        .collect();
    assert_eq!(with, ["source/file.rs"]);
}

#[test]
fn the_library_does_not_print_or_exit() {
    for code in library() {
        for pair in code.tokens.windows(2) {
            let macros = ["println", "print", "eprintln", "eprint", "dbg", "todo", "unimplemented"];
            let prints = pair[1] == "!" && macros.contains(&pair[0].as_str());
            assert!(!prints, "{}: `{}!`", code.name, pair[0]);
        }
        for path in code.tokens.windows(3) {
            let ends =
                path[0] == "process" && path[1] == "::" && matches!(path[2].as_str(), "exit" | "abort");
            assert!(!ends, "{}: `process::{}`", code.name, path[2]);
        }
    }
}

#[test]
fn a_format_is_named_in_its_folder_and_in_the_registry_alone() {
    let files = library();
    let formats: BTreeSet<String> = files
        .iter()
        .filter(|code| code.module.first().is_some_and(|first| first == "formats") && code.module.len() > 1)
        .map(|code| code.module[1].clone())
        .collect();
    assert!(formats.contains("safetensors") && formats.len() >= 3, "{formats:?}");
    let mut wrong = Vec::new();
    for code in &files {
        for format in &formats {
            let own = code.module.starts_with(&["formats".to_owned(), format.clone()]);
            let registry = code.module == ["formats"];
            if own || registry {
                continue;
            }
            // A shard set's convention speaks of file name endings; that is a fact of its own and no other format's.
            let in_formats = code.module.first().is_some_and(|first| first == "formats");
            let by_id = !in_formats && code.strings.iter().any(|text| text == format);
            if code.tokens.contains(format) || by_id {
                wrong.push(format!("{} names `{format}`", code.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
