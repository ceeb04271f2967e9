//! Axes: round numbers, units of a fitting size.

/// Numbers along an axis, shown in a unit that makes them short.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Data at both ends.
    pub low: f64,
    pub high: f64,
    /// The unit as shown; empty without.
    pub unit: String,
    /// Where numbers stand (data), and how they are written.
    pub ticks: Vec<(f64, String)>,
}

/// Prefixes of units that have them; no degrees, no numbers without unit.
const PREFIXES: [(i32, &str); 9] =
    [(-12, "p"), (-9, "n"), (-6, "µ"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T")];

/// Below it numbers without a prefix are too long, and the axis says a power of ten.
const SMALLEST_BARE: f64 = 1e-6;

impl Axis {
    /// Holds all the data; `about` ticks or so.
    pub fn new([low, high]: [f64; 2], unit: &str, about: f64) -> Self {
        let (low, high) = widen(low, high);
        let largest = low.abs().max(high.abs());
        let (exponent, shown) = prefix(largest, unit);
        let scale = 10f64.powi(exponent);
        let step = nice((high - low) / scale / about);
        // a step of 1 is often a little less
        let decimals = (-(1.001 * step).log10().floor()).max(0.0) as usize;
        let first = (low / scale / step - 1e-9).ceil() as i64;
        let last = (high / scale / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|k| {
            let x = k as f64 * step;
            (x * scale, format!("{x:.decimals$}").replace('-', "\u{2212}"))
        });
        Self { low, high, unit: shown, ticks: ticks.collect() }
    }

    /// A round end above and below the data, for axes of values.
    pub fn padded([low, high]: [f64; 2], unit: &str, about: f64) -> Self {
        let (low, high) = widen(low, high);
        let room = 0.05 * (high - low);
        // zero is a good end for what never crosses it
        let low = if low >= 0.0 && low < room { 0.0_f64.min(low) - 0.4 * room } else { low - room };
        Self::new([low, high + room], unit, about)
    }

    /// Share of the way from low to high.
    pub fn share(&self, x: f64) -> f64 {
        (x - self.low) / (self.high - self.low)
    }

    /// `what, unit`, with the unit as shown.
    pub fn label(&self, what: &str) -> String {
        if self.unit.is_empty() { what.to_owned() } else { format!("{what}, {}", self.unit) }
    }
}

fn widen(low: f64, high: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size {
        return (low, high);
    }
    let room = if size > 0.0 { 0.1 * size } else { 1.0 };
    (low - room, high + room)
}

fn prefix(largest: f64, unit: &str) -> (i32, String) {
    let bare = unit.is_empty() || unit == "°" || largest <= 0.0;
    let wanted = (largest.log10() / 3.0).floor() as i32 * 3;
    if bare && largest > 0.0 && largest < SMALLEST_BARE {
        return (wanted, format!("1e{wanted} {unit}").trim_end().to_owned());
    }
    if bare || (0.095..10_000.0).contains(&largest) {
        return (0, unit.to_owned());
    }
    let wanted = wanted.clamp(-12, 12);
    let name = PREFIXES.iter().find(|p| p.0 == wanted).map_or("", |p| p.1);
    (wanted, format!("{name}{unit}"))
}

/// The round step that is nearest: 1, 2, 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let round = match step / power {
        lead if lead < 1.5 => 1.0,
        lead if lead < 3.5 => 2.0,
        lead if lead < 7.5 => 5.0,
        _ => 10.0,
    };
    round * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: [f64; 2], unit: &str) -> (String, Vec<String>) {
        let axis = Axis::new(range, unit, 5.0);
        (axis.unit.clone(), axis.ticks.into_iter().map(|t| t.1).collect())
    }

    #[test]
    fn ticks_are_round_and_units_fit() {
        assert_eq!(labels([0.0, 2.0], "s").1, ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(
            labels([0.0, 2e-5], "m"),
            ("µm".into(), ["0", "5", "10", "15", "20"].map(String::from).into())
        );
        assert_eq!(labels([-1e7, 1e7], "Pa").0, "MPa");
        assert_eq!(labels([0.0, 1e-5], "").0, "");
        let turns = ("1e-15 °".into(), ["0", "200", "400", "600", "800"].map(String::from).into());
        assert_eq!(labels([0.0, 8e-13], "°"), turns);
        assert_eq!(labels([0.0, 4e-7], "").0, "1e-9");
        assert_eq!(labels([-1.0, 1.0], "N").1, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        // nothing to spread over, or nothing at all
        for range in [[3.0, 3.0], [0.0, 0.0], [f64::INFINITY, f64::NEG_INFINITY]] {
            let axis = Axis::padded(range, "m", 5.0);
            assert!(axis.high > axis.low && axis.ticks.len() > 1, "{axis:?}");
        }
    }
}
