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

/// Values whose spread is below the first share of the scale of their quantity, or the second of themselves, are equal but for rounding. Forces and velocities have what the
/// solver leaves, at a relative residual of 1e-10, and ticks of more than seven digits cannot be read.
fn noise(unit: &str) -> [f64; 2] {
    match unit {
        "m" | "°" => [1e-10, 0.0],
        _ => [1e-8, 1e-7],
    }
}
/// Half the range of an axis of equal values, as a share of the scale.
const EQUAL: f64 = 0.1;
/// Share of the values, at each end, that may be spikes; and by how many times the spread of the others they must stick out.
const SPIKES: f64 = 0.025;
const FAR: f64 = 4.0;

/// The range that an axis shows of values, and whether spikes stick out of it. `scale`: size of the quantity in the whole figure.
pub fn shown_range(
    values: impl Iterator<Item = f64>,
    (scale, unit): (f64, &str),
    clips: bool,
) -> ([f64; 2], bool) {
    let mut list: Vec<f64> = values.filter(|x| x.is_finite()).collect();
    list.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (list.first(), list.last()) else { return ([0.0, 1.0], false) };
    let [noise, digits] = noise(unit);
    let noise = noise * scale;
    if high - low <= noise.max(digits * low.abs().max(high.abs())) {
        let middle = 0.5 * (low + high);
        // about zero, where it is zero but for rounding
        let middle = if middle.abs() <= noise { 0.0 } else { middle };
        return ([middle - EQUAL * scale, middle + EQUAL * scale], false);
    }
    if !clips {
        return ([low, high], false);
    }
    let most = (SPIKES * list.len() as f64).ceil() as usize;
    let inner = [list[most.min(list.len() - 1)], list[(list.len() - 1).saturating_sub(most)]];
    // equal values are seen if they are as large as their spread
    let spread = (inner[1] - inner[0]).max(0.5 * inner[0].abs().max(inner[1].abs()));
    if inner[0] > inner[1] || spread <= noise {
        return ([low, high], false);
    }
    let [below, above] = [inner[0] - low > FAR * spread, high - inner[1] > FAR * spread];
    let low = if below { inner[0] - 0.5 * spread } else { low };
    let high = if above { inner[1] + 0.5 * spread } else { high };
    ([low, high], below || above)
}

/// A number with its unit, of a fitting size.
pub fn in_unit(x: f64, unit: &str) -> String {
    let (exponent, shown) = prefix(x.abs(), unit);
    let x = x / 10f64.powi(exponent);
    let decimals = if x.abs() < 10.0 { 1 } else { 0 };
    format!("{x:.decimals$} {shown}").replace('-', "\u{2212}").trim_end().to_owned()
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
    fn rounding_is_shown_as_one_value() {
        let noise = |k: usize| 1e-13 * (k as f64).sin();
        // of a quantity whose size is 1, about zero and elsewhere
        assert_eq!(shown_range((0..50).map(noise), (1.0, "m"), false), ([-0.1, 0.1], false));
        let ([low, high], _) = shown_range((0..50).map(|k| 2.0 + noise(k)), (2.0, "m"), false);
        assert!((low - 1.8).abs() < 1e-9 && (high - 2.2).abs() < 1e-9);
        // what is small beside nothing else is data
        let ([low, high], _) = shown_range((0..50).map(noise), (1e-12, "m"), false);
        assert!(low < -9e-14 && high > 9e-14 && high < 1e-12);
        assert_eq!(Axis::padded([-0.1, 0.1], "m", 5.0).unit, "m");
        // forces are solved to a residual, and differences in the eighth digit cannot be read
        let nearly = |k: usize| 0.613_125 + 1e5 * noise(k);
        assert_eq!(shown_range((0..50).map(|k| 1e4 * noise(k)), (1.0, "N"), false), ([-0.1, 0.1], false));
        assert!(shown_range((0..50).map(nearly), (0.6, "N"), false).0[1] > 0.65);
        assert!(shown_range((0..50).map(|k| 1e4 * noise(k)), (1.0, "m"), false).0[1] < 2e-9);
    }

    #[test]
    fn spikes_stick_out_of_the_range_of_the_rest() {
        let force = |spike: f64| move |k: usize| if k == 17 { spike } else { 10.0 + (k as f64).sin() };
        let ([low, high], clipped) = shown_range((0..100).map(force(5000.0)), (5000.0, "N"), true);
        assert!(clipped && low < 9.1 && high > 11.0 && high < 20.0, "{low} {high}");
        // one that can be seen beside the rest, and one among values that are zero, are shown whole
        assert_eq!(shown_range((0..100).map(force(20.0)), (20.0, "N"), true).0[1], 20.0);
        let alone = (0..100).map(|k| if k == 17 { 5000.0 } else { 0.0 });
        assert_eq!(shown_range(alone, (5000.0, "N"), true), ([0.0, 5000.0], false));
        // what is large for long is no spike
        let step = (0..100).map(|k| if k < 90 { 1.0 } else { 5000.0 });
        assert_eq!(shown_range(step, (5000.0, "N"), true), ([1.0, 5000.0], false));
        assert_eq!((in_unit(5234.0, "N"), in_unit(52_340.0, "N")), ("5234 N".into(), "52 kN".into()));
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
