//! Which known name a mistyped one may have meant.

/// Longer names are compared by their beginnings, so that no input takes long.
const COMPARED: usize = 40;

/// The name that takes the fewest changes of a character (Levenshtein's distance).
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = name.chars().take(COMPARED).collect();
    known.min_by_key(|known| distance(&typed, known))
}

fn distance(typed: &[char], known: &str) -> usize {
    // The distances of all beginnings of what was typed to the beginning of `known` so far.
    let mut row: Vec<usize> = (0..=typed.len()).collect();
    for (done, expected) in known.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = done + 1;
        for (at, &char) in typed.iter().enumerate() {
            let replaced = diagonal + usize::from(char != expected);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[typed.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised() {
        let known = ["timeout", "tls_roots", "max_connections", "max_waiting"];
        let nearest = |name| nearest(name, known.into_iter()).unwrap();
        assert_eq!(nearest("timout"), "timeout");
        assert_eq!(nearest("Timeout"), "timeout");
        assert_eq!(nearest("max-connections"), "max_connections");
        assert_eq!(nearest("tls_root"), "tls_roots");
        assert!(known.contains(&nearest("")));
        assert!(known.contains(&nearest(&"m".repeat(100_000))));
    }

    #[test]
    fn a_distance_counts_changes() {
        for (typed, known, expected) in [
            ("", "", 0),
            ("", "ab", 2),
            ("ab", "", 2),
            ("abc", "axc", 1),
            ("kitten", "sitting", 3),
        ] {
            let typed: Vec<char> = typed.chars().collect();
            assert_eq!(distance(&typed, known), expected);
        }
    }
}
