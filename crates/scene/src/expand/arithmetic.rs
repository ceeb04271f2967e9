//! Arithmetic in scene files: `"= 2 * gap + sqrt(r^2 - h^2)"`.
//!
//! Operators `+ - * / % ^`, parentheses, functions, `pi`, and variables. Angles are in radians.

use crate::nearest;

/// Most characters of an expression, and most parentheses within each other.
const LONGEST: usize = 1000;
const DEEPEST: usize = 64;

/// Functions of one and of two numbers.
type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;
const FUNCTIONS: [(&str, OfOne); 16] = [
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("sqrt", f64::sqrt),
    ("exp", f64::exp),
    ("log", f64::ln),
    ("abs", f64::abs),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("round", f64::round),
    ("sign", f64::signum),
    ("rad", f64::to_radians),
    ("deg", f64::to_degrees),
];
const OF_TWO: [(&str, OfTwo); 4] =
    [("min", f64::min), ("max", f64::max), ("atan2", f64::atan2), ("hypot", f64::hypot)];

/// Value of an expression; what is wrong with it otherwise. `variable` gives the values of names, or why there is none; `None`
/// if a name is unknown.
pub(super) fn evaluate(
    text: &str,
    names: &[&str],
    variable: &mut dyn FnMut(&str) -> Option<Result<f64, String>>,
) -> Result<f64, String> {
    if text.chars().count() > LONGEST {
        return Err(format!("an expression of more than {LONGEST} characters"));
    }
    let mut parser = Parser { text, rest: text, depth: 0, names, variable };
    let value = parser.sum()?;
    parser.space();
    match parser.rest.chars().next() {
        None if value.is_finite() => Ok(value),
        None => Err(format!("'{}' is {value}, expected a finite number", text.trim())),
        Some(c) => Err(format!("unexpected '{c}' in '{}'", text.trim())),
    }
}

struct Parser<'a, 'b> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
    names: &'b [&'b str],
    variable: &'b mut dyn FnMut(&str) -> Option<Result<f64, String>>,
}

impl<'a> Parser<'a, '_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes one of these characters, if it comes next.
    fn take(&mut self, any: &[char]) -> Option<char> {
        self.space();
        let c = self.rest.chars().next().filter(|c| any.contains(c))?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(c) = self.take(&['+', '-']) {
            let next = self.product()?;
            value = if c == '+' { value + next } else { value - next };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        while let Some(c) = self.take(&['*', '/', '%']) {
            let next = self.signed()?;
            if c != '*' && next == 0.0 {
                return Err(format!("division by zero in '{}'", self.text.trim()));
            }
            value = match c {
                '*' => value * next,
                '/' => value / next,
                _ => value.rem_euclid(next),
            };
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} levels in an expression"));
        }
        let value = match self.take(&['-', '+']) {
            Some('-') => -self.signed()?,
            Some(_) => self.signed()?,
            None => {
                let base = self.atom()?;
                match self.take(&['^']) {
                    // binds to the right: 2^-1, 2^3^2
                    Some(_) => base.powf(self.signed()?),
                    None => base,
                }
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn close(&mut self) -> Result<(), String> {
        self.take(&[')']).map(|_| ()).ok_or_else(|| format!("missing ')' in '{}'", self.text.trim()))
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.take(&['(']).is_some() {
            let value = self.sum()?;
            return self.close().map(|()| value);
        }
        self.space();
        let Some(first) = self.rest.chars().next() else {
            return Err(format!("'{}' ends too early", self.text.trim()));
        };
        if first.is_ascii_digit() || first == '.' {
            return self.number();
        }
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let name = &self.rest[..end];
        if end == 0 {
            return Err(format!("unexpected '{first}' in '{}'", self.text.trim()));
        }
        self.rest = &self.rest[end..];
        if self.take(&['(']).is_some() {
            return self.call(name);
        }
        match (self.variable)(name) {
            Some(value) => value,
            None if name == "pi" => Ok(std::f64::consts::PI),
            None => Err(unknown("variable", name, self.names)),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() {
            let exponent = end > 0 && matches!(bytes[end - 1], b'e' | b'E');
            match bytes[end] {
                b'0'..=b'9' | b'.' | b'e' | b'E' | b'_' => end += 1,
                b'+' | b'-' if exponent => end += 1,
                _ => break,
            }
        }
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.replace('_', "").parse().map_err(|_| format!("'{digits}' is no number"))
    }

    fn call(&mut self, name: &str) -> Result<f64, String> {
        let first = self.sum()?;
        if let Some((_, f)) = FUNCTIONS.iter().find(|(n, _)| *n == name) {
            return self.close().map(|()| f(first));
        }
        let Some((_, f)) = OF_TWO.iter().find(|(n, _)| *n == name) else {
            let known: Vec<&str> =
                FUNCTIONS.iter().map(|(n, _)| *n).chain(OF_TWO.iter().map(|(n, _)| *n)).collect();
            return Err(unknown("function", name, &known));
        };
        if self.take(&[',']).is_none() {
            return Err(format!("{name} takes two numbers"));
        }
        let second = self.sum()?;
        self.close().map(|()| f(first, second))
    }
}

fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown {kind} '{name}', did you mean '{near}'?"),
        None if known.is_empty() => format!("unknown {kind} '{name}': there are none here"),
        None => format!("unknown {kind} '{name}', expected one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        evaluate(text, &["gap"], &mut |name| (name == "gap").then_some(Ok(0.5)))
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("2 - 3 - 4", -5.0),
            ("12 / 3 / 2", 2.0),
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("7 % 4 + -1 % 4", 6.0),
            ("1e-3 * 2E+3", 2.0),
            ("gap * 2 - .5", 0.5),
            ("max(1, min(5, 3))", 3.0),
            ("deg(atan2(1, 1))", 45.0),
        ] {
            let found = value(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!((found - expected).abs() < 1e-15 * expected.abs().max(1.0), "{text}: {found}");
        }
        assert!((value("cos(pi / 3)").unwrap() - 0.5).abs() < 1e-15);
    }

    #[test]
    fn each_fault_says_what_is_wrong() {
        let deep = format!("{}1{}", "(".repeat(80), ")".repeat(80));
        for (text, words) in [
            ("1 / (gap - 0.5)", "division by zero"),
            ("gpa * 2", "did you mean 'gap'?"),
            ("sine(1)", "unknown function 'sine', did you mean 'sin'?"),
            ("1 +", "ends too early"),
            ("(1", "missing ')'"),
            ("1 2", "unexpected '2'"),
            ("1 $ 2", "unexpected '$'"),
            ("sqrt(-1)", "expected a finite number"),
            ("10^400", "expected a finite number"),
            ("min(1)", "takes two numbers"),
            ("1..2", "no number"),
            (deep.as_str(), "levels"),
        ] {
            let found = value(text).unwrap_err();
            assert!(found.contains(words), "{text}: {found}");
        }
    }
}
