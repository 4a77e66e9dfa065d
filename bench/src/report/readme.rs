//! The section of the front page, between two marks.

use std::fs;
use std::io;

use super::table::{Table, wrap};
use crate::results::Results;

/// The front page.
const PAGE: &str = "../README.md";

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// How the titles begin of the tables that the page shows; the others are in the results.
const SHOWN: &str = "Reads";

/// Writes the section anew.
pub(super) fn update(results: &Results, tables: &[Table]) -> io::Result<()> {
    let page = fs::read_to_string(PAGE)?;
    let page = replace(&page, &section(results, tables))
        .ok_or_else(|| io::Error::other(format!("{PAGE} lacks the marks {BEGIN} and {END}")))?;
    fs::write(PAGE, page)
}

fn section(results: &Results, tables: &[Table]) -> String {
    let mode = results.mode.name();
    let text = format!(
        "From `bench/run {mode}`: {}. Values of 100 bytes, 10,000 keys, loopback; medians. Each \
         measurement is a process of its own, and all of them take turns. \
         [All tables](bench/results/{mode}.md) have writes, latencies, growth and memory, too; \
         [bench/README.md](bench/README.md) says how it is measured.",
        results.machine.sentence()
    );
    let mut text = wrap(&text);
    for table in tables.iter().filter(|table| table.title.starts_with(SHOWN)) {
        text.push('\n');
        text.push_str(&table.markdown("bench/results/"));
    }
    text
}

/// The page with another section; None if a mark is missing.
fn replace(page: &str, section: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{section}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn what_stands_between_the_marks_is_replaced_and_nothing_else() {
        let page = "a\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nb\n";
        let once = replace(page, "new\n").unwrap();
        assert_eq!(
            once,
            "a\n<!-- bench:begin -->\nnew\n<!-- bench:end -->\nb\n"
        );
        assert_eq!(replace(&once, "new\n").unwrap(), once);
    }

    #[test]
    fn a_page_without_marks_is_left_alone() {
        assert_eq!(replace("a", "new"), None);
        assert_eq!(
            replace("<!-- bench:end --><!-- bench:begin -->", "new"),
            None
        );
    }
}
