//! Tables for people: columns as wide as they need to be.

use std::io::{self, Write};

use crate::printable::printable;

/// Rows of cells under a heading; all rows have as many cells as the heading.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
    align: [Align; N],
}

/// On which side the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(heading: [&str; N], align: [Align; N]) -> Self {
        Self {
            rows: vec![heading.map(str::to_owned)],
            align,
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows
            .push(cells.map(|cell| printable(&cell).into_owned()));
    }

    /// Writes the rows, two spaces between columns and none at the end of a line.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths: [usize; N] = std::array::from_fn(|column| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        });
        for row in &self.rows {
            let cells = row.iter().zip(widths).zip(self.align);
            let cells = cells.map(|((cell, width), align)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["NODE", "SHARE"], [Align::Left, Align::Right]);
        table.row(["größe:11211".to_owned(), "9.0%".to_owned()]);
        table.row(["b\x1b[2J".to_owned(), "100.0%".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "NODE          SHARE\n\
             größe:11211    9.0%\n\
             b\\u{1b}[2J   100.0%\n"
        );
    }
}
