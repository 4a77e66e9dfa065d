//! A table, for a terminal and for Markdown.

use std::fmt::Write;

/// What is shown: a title, a remark, columns and rows. The first column is text, the others are
/// numbers.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) title: String,
    /// What the numbers are.
    pub(crate) remark: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// The file of a plot of the same numbers.
    pub(crate) plot: Option<String>,
}

impl Table {
    pub(crate) fn new(title: &str, remark: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            remark: remark.to_owned(),
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
            plot: None,
        }
    }

    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        let plain = |cell: &String| cell.replace(['*', '`'], "");
        let rows: Vec<Vec<String>> = [&self.columns]
            .into_iter()
            .chain(&self.rows)
            .map(|row| row.iter().map(plain).collect())
            .collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        let mut text = format!("\n{}\n", self.title);
        for row in &rows {
            for (index, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let aligned = match index {
                    0 => format!("{cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                };
                text.push_str(&aligned);
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// For a page: the remark, the table, and the plot, which is in that folder as the page sees it.
    pub(crate) fn markdown(&self, folder: &str) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("{}\n{}", wrap(&self.remark), line(&self.columns));
        let rules: Vec<_> = (0..self.columns.len())
            .map(|index| if index == 0 { "---" } else { "---:" }.to_owned())
            .collect();
        text.push_str(&line(&rules));
        for row in &self.rows {
            text.push_str(&line(row));
        }
        if let Some(plot) = &self.plot {
            let _ = write!(text, "\n![{}]({folder}{plot})\n", self.title);
        }
        text
    }
}

/// The most characters of a line of text on the page.
const WIDTH: usize = 105;

/// Lines of words.
pub(crate) fn wrap(text: &str) -> String {
    let mut wrapped = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let more = word.chars().count();
        if length > 0 && length + 1 + more > WIDTH {
            wrapped.push('\n');
            length = 0;
        } else if length > 0 {
            wrapped.push(' ');
            length += 1;
        }
        wrapped.push_str(word);
        length += more;
    }
    wrapped + "\n"
}

/// A whole number with separators; a dash for what was not measured.
pub(crate) fn thousands(number: f64) -> String {
    if !number.is_finite() {
        return "-".to_owned();
    }
    let digits = format!("{number:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A ratio; a dash if one of both was not measured.
pub(crate) fn ratio(number: f64, of: f64) -> String {
    let ratio = number / of;
    if ratio.is_finite() {
        format!("{ratio:.2}")
    } else {
        "-".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(thousands(0.4), "0");
        assert_eq!(thousands(999.0), "999");
        assert_eq!(thousands(1000.0), "1,000");
        assert_eq!(thousands(1_234_567.0), "1,234,567");
        assert_eq!(thousands(f64::NAN), "-");
    }

    #[test]
    fn what_is_not_measured_has_no_ratio() {
        assert_eq!(ratio(1.0, 2.0), "0.50");
        assert_eq!(ratio(1.0, f64::NAN), "-");
        assert_eq!(ratio(1.0, 0.0), "-");
    }

    #[test]
    fn a_table_is_aligned_in_text_and_marked_in_markdown() {
        let mut table = Table::new("Title", "Remark.", &["", "a"]);
        table.rows.push(vec!["**x**".into(), "10".into()]);
        table.rows.push(vec!["`y`".into(), "9".into()]);
        assert_eq!(table.text(), "\nTitle\n    a\nx  10\ny   9\n");
        let markdown = "Remark.\n\n|  | a |\n| --- | ---: |\n| **x** | 10 |\n| `y` | 9 |\n";
        assert_eq!(table.markdown(""), markdown);
    }

    #[test]
    fn lines_are_full_but_not_too_long() {
        let text = "some words ".repeat(40);
        let wrapped = wrap(&text);
        assert!(wrapped.lines().all(|line| line.len() <= WIDTH));
        assert_eq!(wrapped.lines().count(), 5);
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&wrapped), words(&text));
    }
}
