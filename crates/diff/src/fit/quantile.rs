//! Quantiles of Student's distribution.

/// Degrees of freedom from which the distribution is the normal one, to six digits.
const MANY: f64 = 1e6;

/// The `t` with `P(|T| <= t) = level` for Student's distribution with so many degrees of freedom; infinitely many give
/// the normal distribution.
pub(super) fn two_sided(level: f64, degrees: f64) -> f64 {
    let nu = degrees.min(MANY);
    // P(|T| > t) = I_x(nu/2, 1/2) with x = nu/(nu + t^2)
    let outside = |t: f64| beta(nu / (nu + t * t), 0.5 * nu, 0.5);
    let (mut low, mut high) = (0.0, 1.0);
    while outside(high) > 1.0 - level && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if outside(middle) > 1.0 - level { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function `I_x(a, b)`, by its continued fraction (Lentz).
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp() / a;
    let tiny = 1e-300;
    let (mut c, mut d, mut f) = (1.0, 0.0, 1.0);
    for k in 0..5000 {
        let m = f64::from(k / 2);
        let term = match k {
            0 => 1.0,
            k if k % 2 == 0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        d = 1.0 + term * d;
        d = 1.0 / if d.abs() < tiny { tiny } else { d };
        c = 1.0 + term / c;
        c = if c.abs() < tiny { tiny } else { c };
        f *= c * d;
        if k > 0 && (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    // the first term of the fraction is 1, so that f began with one factor too many
    front * (f - 1.0)
}

/// The logarithm of the gamma function, by Stirling's series after a shift.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let (y, z) = (1.0 / x, 1.0 / (x * x));
    let series = y * (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * (1.0 / 1680.0 - z / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_closed_forms_and_tables() {
        // one degree of freedom: tan(pi level/2); two: level sqrt(2/(1 - level^2))
        let one = (0.95 * std::f64::consts::FRAC_PI_2).tan();
        let two = 0.95 * (2.0f64 / (1.0 - 0.95 * 0.95)).sqrt();
        for (degrees, expected) in [(1.0, one), (2.0, two)] {
            let got = two_sided(0.95, degrees);
            assert!((got / expected - 1.0).abs() < 1e-10, "{degrees}: {got} {expected}");
        }
        // printed tables
        for (level, degrees, expected) in
            [(0.95, 10.0, 2.228_139), (0.99, 30.0, 2.749_996), (0.95, f64::INFINITY, 1.959_964)]
        {
            let got = two_sided(level, degrees);
            assert!((got - expected).abs() < 1e-5, "{level} {degrees}: {got}");
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
    }
}
