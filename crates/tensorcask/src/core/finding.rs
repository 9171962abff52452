//! Findings describe the file: a numbered kind of problem, and one occurrence of it.

use super::{Span, Text};

/// How much a finding matters, least first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing to do.
    Note,
    /// Needs a look.
    Warning,
    /// Broken; or harmful in some loader; or hides content from a reader.
    Error,
    /// Code runs when a default loader opens the file.
    Critical,
}

impl Severity {
    /// The lower-case word of the outside interface.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Critical => "critical",
        }
    }

    /// The severity called `name`.
    pub fn from_name(name: &str) -> Option<Severity> {
        [Severity::Note, Severity::Warning, Severity::Error, Severity::Critical]
            .into_iter()
            .find(|severity| severity.name() == name)
    }
}

/// What a finding is about; `verify` and `scan` differ by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Category {
    /// The layout contradicts itself or its specification.
    Structure,
    /// The bytes are not the expected ones.
    Integrity,
    /// Opening it can harm, or two readers see different content.
    Security,
    /// Some readers cannot open it.
    Portability,
    /// A conversion would lose something.
    Loss,
}

impl Category {
    /// The lower-case word of the outside interface.
    pub fn name(self) -> &'static str {
        match self {
            Category::Structure => "structure",
            Category::Integrity => "integrity",
            Category::Security => "security",
            Category::Portability => "portability",
            Category::Loss => "loss",
        }
    }
}

/// A numbered kind of problem. Codes and slugs are never reused.
#[derive(Debug)]
pub struct Rule {
    /// Two letters for the family, three digits.
    pub code: &'static str,
    /// Names the problem, not the cure.
    pub slug: &'static str,
    /// What the rule is about.
    pub category: Category,
    /// The usual severity; a finding has its own.
    pub severity: Severity,
    /// Rows of the catalogues that this rule answers.
    pub rows: &'static [&'static str],
    /// What it means, why it matters, what to do: shown by `explain`.
    pub doc: &'static str,
}

/// Where a finding points.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// Bytes of a source.
    Span(Span),
    /// A file beside the ones that were opened, by its relative name.
    File(Text),
    /// The checkpoint as a whole.
    Whole,
}

/// One occurrence of a rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kind of problem.
    pub rule: &'static Rule,
    /// How much this occurrence matters.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// The tensor that it concerns.
    pub tensor: Option<Text>,
    /// The name that it concerns and that is no tensor: a key, a file, a resolved global.
    pub subject: Option<Text>,
    /// The fact: one line, lower case, values in backticks, both sides of the comparison.
    pub message: String,
    /// One action.
    pub help: Option<String>,
}

impl Rule {
    /// A finding of this rule at its usual severity.
    pub fn found(&'static self, place: Place, message: impl Into<String>) -> Finding {
        Finding {
            rule: self,
            severity: self.severity,
            place,
            tensor: None,
            subject: None,
            message: message.into(),
            help: None,
        }
    }

    /// A finding at a span.
    pub fn at(&'static self, span: Span, message: impl Into<String>) -> Finding {
        self.found(Place::Span(span), message)
    }
}

impl Finding {
    /// Names the tensor.
    #[must_use]
    pub fn tensor(mut self, name: &Text) -> Self {
        self.tensor = Some(name.clone());
        self
    }

    /// Names the subject.
    #[must_use]
    pub fn subject(mut self, name: impl Into<Text>) -> Self {
        self.subject = Some(name.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, action: impl Into<String>) -> Self {
        self.help = Some(action.into());
        self
    }

    /// Gives this occurrence a severity of its own.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// One rule: code, slug, category, usual severity, catalogue rows, text for `explain`.
macro_rules! rule {
    ($code:literal $slug:literal $category:ident $severity:ident [$($row:literal),*] $doc:literal) => {
        $crate::core::Rule {
            code: $code,
            slug: $slug,
            category: $crate::core::Category::$category,
            severity: $crate::core::Severity::$severity,
            rows: &[$($row),*],
            doc: $doc,
        }
    };
}

/// A table of rules, each a static of its own name, and `ALL` of them.
macro_rules! rules {
    ($($name:ident $code:literal $slug:literal $category:ident $severity:ident [$($row:literal),*] $doc:literal)*) => {
        $(pub(crate) static $name: $crate::core::Rule =
            $crate::core::rule!($code $slug $category $severity [$($row),*] $doc);)*

        /// Every rule of the table.
        pub(crate) static ALL: &[&$crate::core::Rule] = &[$(&$name),*];
    };
}

pub(crate) use {rule, rules};
