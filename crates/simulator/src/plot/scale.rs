//! How values become places on an axis, and which of them are written beside it.

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// From 0 to this.
    Linear(f64),
    /// From one value above 0 to another, each with as much room for every doubling.
    Logarithmic(f64, f64),
}

impl Scale {
    /// A linear one on which all of these have room, none of which is below 0.
    pub(super) fn linear(values: impl Iterator<Item = f64>) -> Self {
        Self::Linear(round_up(values.fold(1e-9, f64::max)))
    }

    /// A logarithmic one on which all of these that are above 0 have room.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>) -> Self {
        let (least, most) = values
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| {
                (least.min(value), most.max(value))
            });
        if most <= 0.0 {
            return Self::Logarithmic(1e-3, 1.0);
        }
        // The middle of a class of latencies may be above what is meant by it.
        let (least, most) = (least * 1.01, most * 0.99);
        let floor = round_up(least * 0.5);
        Self::Logarithmic(floor, round_up(most).max(2.0 * floor))
    }

    /// From 0 at one end to 1 at the other.
    pub(super) fn place(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear(most) => value / most,
            Self::Logarithmic(least, most) => (value.max(least) / least).ln() / (most / least).ln(),
        };
        place.clamp(0.0, 1.0)
    }

    /// The values that are written beside it.
    pub(super) fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear(most) => {
                let step = round_up(most / 8.0);
                std::iter::successors(Some(0_u32), |tick| Some(tick + 1))
                    .map(|tick| step * f64::from(tick))
                    .take_while(|value| *value <= most * 1.000_1)
                    .collect()
            }
            Self::Logarithmic(least, most) => {
                let next = |value: &f64| Some(round_up(value * 1.5));
                let all: Vec<f64> = std::iter::successors(Some(least), next)
                    .take_while(|value| *value <= most * 1.000_1)
                    .collect();
                // Of many decades the powers of ten are enough.
                let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-6;
                if all.len() > 10 {
                    all.into_iter().filter(is_power).collect()
                } else {
                    all
                }
            }
        }
    }
}

/// The least of 1, 2, 5, 10, 20 and so on, and of 0.5, 0.2, that is not below.
fn round_up(value: f64) -> f64 {
    let decade = 10_f64.powf((value * 0.999_9).log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|step| step * decade)
        .find(|step| value <= step * 1.000_1)
        .unwrap_or(10.0 * decade)
}

/// A span in the unit that suits it.
pub(super) fn seconds(value: f64) -> String {
    let (factor, unit) = match value {
        0.0 => (1.0, "s"),
        _ if value >= 0.999 => (1.0, "s"),
        _ if value >= 0.999e-3 => (1e3, "ms"),
        _ if value >= 0.999e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", (value * factor * 10.0).round() / 10.0)
}

/// A part of 1 in hundredths.
pub(super) fn percent(value: f64) -> String {
    format!("{} %", (value * 1_000.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_and_few() {
        let shown = |scale: Scale| scale.ticks().into_iter().map(seconds).collect::<Vec<_>>();
        let linear = Scale::linear([70.0].into_iter());
        assert_eq!(linear, Scale::Linear(100.0));
        assert_eq!(
            shown(linear),
            ["0 s", "20 s", "40 s", "60 s", "80 s", "100 s"]
        );
        let narrow = Scale::logarithmic([0.12, 0.3, 0.0, 1.000_3].into_iter());
        assert_eq!(shown(narrow), ["100 ms", "200 ms", "500 ms", "1 s"]);
        let wide = Scale::logarithmic([3e-5, 40.0].into_iter());
        assert_eq!(
            shown(wide),
            ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
        let one = Scale::logarithmic([0.01].into_iter());
        assert_eq!(shown(one), ["10 ms", "20 ms"]);
        let none = Scale::logarithmic(std::iter::empty());
        assert_eq!(shown(none).len(), 10);
    }

    #[test]
    fn places_are_on_the_axis() {
        let scale = Scale::Logarithmic(1.0, 100.0);
        for (value, place) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (10.0, 0.5),
            (100.0, 1.0),
            (1e9, 1.0),
        ] {
            assert!((scale.place(value) - place).abs() < 1e-9, "{value}");
        }
        assert!((Scale::Linear(4.0).place(1.0) - 0.25).abs() < 1e-9);
    }
}
