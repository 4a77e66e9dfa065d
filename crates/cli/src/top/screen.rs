//! A frame on the terminal: the nodes, what is known of the chosen one, and the keys.

use ratatui::Frame as Area;
use ratatui::layout::{Alignment, Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState};

use super::frame::{Frame, Seen};
use super::report::{HEADING, cells};
use super::view::View;
use crate::errors::reason;
use crate::printable::printable;

/// Between two columns.
const SPACING: u16 = 2;

const KEYS: &str = "q quit   arrows choose   s sort   r reverse";

pub(super) fn draw(area: &mut Area<'_>, frame: &Frame, view: &View) {
    let [title, nodes, detail, keys] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(2),
        Constraint::Length(2),
        Constraint::Length(1),
    ])
    .areas(area.area());
    let ordered = view.ordered(frame);
    let chosen = view.chosen_in(&ordered);
    area.render_widget(Paragraph::new(summary(frame)).style(bold()), title);
    let mut state = TableState::default().with_selected(chosen);
    area.render_stateful_widget(table(&ordered, view, nodes.width), nodes, &mut state);
    let told = chosen.map(|at| told(ordered[at])).unwrap_or_default();
    area.render_widget(Paragraph::new(told), detail);
    area.render_widget(Paragraph::new(KEYS).style(dim()), keys);
}

fn summary(frame: &Frame) -> String {
    let all = frame.nodes.len();
    let healthy = frame.nodes.iter().filter(|node| node.is_healthy()).count();
    format!("steersman top: {healthy} of {all} nodes healthy")
}

/// What there is to say about the chosen node.
fn told(node: &Seen) -> Text<'static> {
    let what = match &node.failure {
        Some(failure) => reason(failure),
        None => node.report.clone(),
    };
    Text::from(vec![
        Line::default(),
        Line::raw(printable(&format!("{}: {what}", node.name)).into_owned()),
    ])
}

fn table<'a>(nodes: &[&Seen], view: &View, width: u16) -> Table<'a> {
    let rows: Vec<[String; HEADING.len()]> = nodes.iter().map(|node| cells(node)).collect();
    let heading: [String; HEADING.len()] = std::array::from_fn(|column| {
        let name = HEADING[column];
        match view.sort {
            Some(sort) if sort == column => format!("{name}*"),
            _ => name.to_owned(),
        }
    });
    let widths = std::array::from_fn::<_, { HEADING.len() }, _>(|column| {
        let cells = rows.iter().chain([&heading]).map(|row| &row[column]);
        let width = cells.map(|cell| printable(cell).chars().count()).max();
        u16::try_from(width.unwrap_or(0)).unwrap_or(u16::MAX)
    });
    let columns = fitting(&widths, width);
    let colour = |node: &Seen| match (view.colours, node.is_healthy(), node.penalised) {
        (true, false, _) => Style::new().fg(Color::Red),
        (true, true, true) => Style::new().fg(Color::Yellow),
        _ => Style::new(),
    };
    let body = rows.into_iter().zip(nodes);
    let body = body.map(|(cells, node)| Row::new(aligned(cells, columns)).style(colour(node)));
    Table::new(
        body,
        widths[..columns].iter().copied().map(Constraint::Length),
    )
    .header(Row::new(aligned(heading, columns)).style(dim()))
    .column_spacing(SPACING)
    .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
}

/// How many columns fit whole, one at least: a number that is cut is another number.
fn fitting(widths: &[u16], available: u16) -> usize {
    let mut end = 0_u16;
    let fit = widths.iter().take_while(|&&width| {
        end = end.saturating_add(width);
        let fits = end <= available;
        end = end.saturating_add(SPACING);
        fits
    });
    fit.count().max(1)
}

/// Words to the left, numbers to the right.
fn aligned(cells: [String; HEADING.len()], columns: usize) -> impl Iterator<Item = Cell<'static>> {
    let cells = cells.into_iter().take(columns);
    cells.enumerate().map(|(column, cell)| {
        let alignment = match column {
            0 | 1 => Alignment::Left,
            _ => Alignment::Right,
        };
        let cell = printable(&cell).into_owned();
        Cell::new(Text::raw(cell).alignment(alignment))
    })
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

#[cfg(test)]
mod tests;
