//! Numbers for people: three digits, units beside them, thousands apart.

/// Three significant digits; powers of ten only below 1e-3 and from 1e5 on.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..99_950.0).contains(&size) {
        return format!("{x:.2e}");
    }
    // rounding may reach the next power of ten: 9.999 is 10.0
    let decimals = |size: f64| (2 - size.log10().floor() as i32).max(0);
    let rounded = 10f64.powi(-decimals(size)) * (size * 10f64.powi(decimals(size))).round();
    format!("{x:.*}", decimals(rounded.max(1e-3)) as usize)
}

/// A length of time in the unit that suits it.
pub fn seconds(t: f64) -> String {
    match t.abs() {
        x if x >= 1.0 || x == 0.0 => format!("{} s", trimmed(t)),
        x if x >= 1e-3 => format!("{} ms", trimmed(1e3 * t)),
        x if x >= 1e-6 => format!("{} us", trimmed(1e6 * t)),
        _ => format!("{} s", short(t)),
    }
}

/// A measured time, to three digits.
pub fn measured(t: f64) -> String {
    match t.abs() {
        x if x >= 0.9995 => format!("{} s", short(t)),
        x if x >= 0.9995e-3 => format!("{} ms", short(1e3 * t)),
        _ => format!("{} us", short(1e6 * t)),
    }
}

/// A time of the run, to a microsecond.
pub fn instant(t: f64) -> String {
    let text = format!("{t:.6}");
    format!("t = {} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// At most five significant digits, without zeros at the end.
fn trimmed(x: f64) -> String {
    let digits = (4 - x.abs().max(1e-300).log10().floor() as i32).clamp(0, 12);
    let text = format!("{x:.*}", digits as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A whole number with its thousands apart.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 step`, `2,000 steps`.
pub fn of(n: usize, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A share of a whole: `all`, `12 %`, `under 1 %`.
pub fn share(part: usize, whole: usize) -> String {
    match 100.0 * part as f64 / whole.max(1) as f64 {
        _ if part == whole => "all".to_owned(),
        p if p < 1.0 => "under 1 %".to_owned(),
        p if p > 99.0 => "over 99 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let said: Vec<String> =
            [0.0, 1.0, -2.5, 98.123, 9.9999, 999.96, 12_345.6, 2.5e-10, 1e-3, 123_456.0].map(short).to_vec();
        let wanted = ["0", "1.00", "-2.50", "98.1", "10.0", "1000", "12346", "2.50e-10", "0.00100", "1.23e5"];
        assert_eq!(said, wanted);
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!([1.23456, 0.0123456, 7.8865e-6].map(measured), ["1.23 s", "12.3 ms", "7.89 us"]);
        let said: Vec<String> = [0.0, 1e-3, 0.5, 2.0, 1.25e-5, 61.0].map(seconds).to_vec();
        assert_eq!(said, ["0 s", "1 ms", "500 ms", "2 s", "12.5 us", "61 s"]);
        assert_eq!([0.483, 2.0, 0.0000014].map(instant), ["t = 0.483 s", "t = 2 s", "t = 0.000001 s"]);
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        assert_eq!([0, 12, 1000, 1_234_567].map(count), ["0", "12", "1,000", "1,234,567"]);
        assert_eq!(of(1, "step"), "1 step");
        assert_eq!([share(3, 3), share(0, 7), share(1, 2)], ["all", "under 1 %", "50 %"]);
    }
}
