//! What was found.

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// Good to know.
    Note,
    /// It works, but something is wrong or soon will be.
    Warning,
    /// A node cannot be used.
    Problem,
}

impl Severity {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One thing that was found, at some nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) severity: Severity,
    pub(super) nodes: Vec<String>,
    pub(super) what: String,
    pub(super) advice: String,
}

impl Finding {
    pub(super) fn new(
        severity: Severity,
        node: &str,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            nodes: vec![node.to_owned()],
            what: what.into(),
            advice: advice.into(),
        }
    }
}

/// The worst first; what was found alike at several nodes is one finding.
pub(super) fn sorted(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        let same = merged.iter_mut().find(|known| {
            (known.severity, &known.what, &known.advice)
                == (finding.severity, &finding.what, &finding.advice)
        });
        match same {
            Some(known) => known.nodes.extend(finding.nodes),
            None => merged.push(finding),
        }
    }
    merged.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_comes_first_and_what_is_alike_once() {
        let finding = |severity, node, what: &str| Finding::new(severity, node, what, "do");
        let sorted = sorted(vec![
            finding(Severity::Note, "a", "old"),
            finding(Severity::Problem, "b", "down"),
            finding(Severity::Note, "c", "old"),
            finding(Severity::Warning, "c", "old"),
        ]);
        let seen: Vec<_> = sorted
            .iter()
            .map(|finding| (finding.severity.word(), finding.nodes.join(" ")))
            .collect();
        assert_eq!(
            seen,
            [
                ("problem", "b".to_owned()),
                ("warning", "c".to_owned()),
                ("note", "a c".to_owned())
            ]
        );
    }
}
