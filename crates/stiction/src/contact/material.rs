//! Materials, and what two of them make together in a contact.
//!
//! Symbols: `E` Young's modulus, `nu` Poisson's ratio, `G = E / (2 (1 + nu))`, `mu` friction.

use super::invalid::{InvalidContact, check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a body is made of, as far as contacts care.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Young's modulus `E`, Pa; infinite for a body that does not deform.
    pub young: f64,
    /// Poisson's ratio `nu`, above -1 and at most 0.5.
    pub poisson: f64,
    /// Friction coefficient `mu`, to be combined with the other body's by a [`FrictionRule`].
    pub friction: f64,
}

/// How the friction coefficients of two bodies make one. No rule has a footing in mechanics (friction
/// belongs to a pair of surfaces): they are conveniences for when the pair was not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrictionRule {
    /// `sqrt(mu1 mu2)`, the default: like materials keep their value, and a frictionless body slides on
    /// everything.
    #[default]
    GeometricMean,
    /// `(mu1 + mu2) / 2`.
    Average,
    /// `mu1 mu2`.
    Product,
    /// The smaller.
    Minimum,
    /// The larger.
    Maximum,
}

/// Elastic constants of two half-spaces pressed together, and their friction.
///
/// The contact force acts on the *first* body along `+n`, so `n` points into it; the deformation is the
/// first body's surface displacement less the second's. Both bodies' compliances then add, except for the
/// coupling of normal and tangential direction, which has the opposite sign in the second body (Johnson,
/// *Contact Mechanics*, 5.4 and 7.1): it is gone between like materials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// `(1-nu1^2)/E1 + (1-nu2^2)/E2`, 1/Pa: the factor of `1/(pi r)`, in normal and tangential direction.
    pub normal: f64,
    /// `nu1 (1+nu1)/E1 + nu2 (1+nu2)/E2`, 1/Pa: the factor of `x^2/(pi r^3)` and `x y/(pi r^3)`.
    pub shear: f64,
    /// `(1-2 nu1)(1+nu1)/E1 - (1-2 nu2)(1+nu2)/E2`, 1/Pa: the factor of `x/(2 pi r^2)`.
    pub coupling: f64,
    /// Friction coefficient of the pair.
    pub friction: f64,
}

impl Material {
    /// A body that does not deform.
    pub fn rigid(friction: f64) -> Self {
        Self { young: f64::INFINITY, poisson: 0.0, friction }
    }

    /// `(1-nu^2)/E`, 1/Pa: its part of [`Pair::normal`]; 0 for a body that does not deform.
    pub fn normal_compliance(&self) -> f64 {
        (1.0 - self.poisson * self.poisson) / self.young
    }

    /// Checks every field.
    pub fn validate(&self) -> Result<(), InvalidContact> {
        check("young", self.young, "above 0", |x| x > 0.0)?;
        check("poisson", self.poisson, "above -1 and at most 0.5", |x| x > -1.0 && x <= 0.5)?;
        check("friction", self.friction, "at least 0 and finite", |x| x >= 0.0 && x.is_finite())
    }
}

impl FrictionRule {
    /// The pair's coefficient.
    pub fn combine(self, mu1: f64, mu2: f64) -> f64 {
        match self {
            Self::Minimum => mu1.min(mu2),
            // in two roots: mu1 mu2 may underflow
            Self::GeometricMean if mu1 == mu2 => mu1,
            Self::GeometricMean => mu1.sqrt() * mu2.sqrt(),
            Self::Product => mu1 * mu2,
            Self::Maximum => mu1.max(mu2),
            Self::Average => 0.5 * mu1 + 0.5 * mu2,
        }
    }
}

impl Pair {
    /// The pair of two validated materials; the contact force acts on `first` along the normal.
    pub fn new(first: &Material, second: &Material, rule: FrictionRule) -> Result<Self, InvalidContact> {
        first.validate()?;
        second.validate()?;
        let (e1, nu1, e2, nu2) = (first.young, first.poisson, second.young, second.poisson);
        Ok(Self {
            normal: first.normal_compliance() + second.normal_compliance(),
            shear: nu1 * (1.0 + nu1) / e1 + nu2 * (1.0 + nu2) / e2,
            coupling: (1.0 - 2.0 * nu1) * (1.0 + nu1) / e1 - (1.0 - 2.0 * nu2) * (1.0 + nu2) / e2,
            friction: rule.combine(first.friction, second.friction),
        })
    }

    /// Effective modulus `E*`, Pa: `1/E* = (1-nu1^2)/E1 + (1-nu2^2)/E2` (Johnson 4.2 (b)). Infinite if
    /// neither body deforms.
    pub fn effective_modulus(&self) -> f64 {
        1.0 / self.normal
    }

    /// Effective shear modulus `G*`, Pa, of the Cattaneo-Mindlin contact: `1/G* = (2-nu1)/G1 + (2-nu2)/G2`
    /// (Johnson 7.2). Its tangential stiffness before any slip is `8 a G*`.
    pub fn effective_shear_modulus(&self) -> f64 {
        // (2 - nu)/G = 2 (1+nu)(2-nu)/E = 2 (2 (1-nu^2) + nu (1+nu))/E
        0.5 / (2.0 * self.normal + self.shear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(young: f64, poisson: f64) -> Material {
        Material { young, poisson, friction: 0.3 }
    }

    #[test]
    fn steel_on_rubber_has_the_moduli_of_the_textbook() {
        let (steel, rubber) = (material(210e9, 0.3), material(5e6, 0.49));
        let pair = Pair::new(&steel, &rubber, FrictionRule::default()).unwrap();
        let shear = |m: &Material| m.young / (2.0 * (1.0 + m.poisson));
        let e = 1.0 / (0.91 / 210e9 + (1.0 - 0.49f64.powi(2)) / 5e6);
        let g = 1.0 / (1.7 / shear(&steel) + 1.51 / shear(&rubber));
        assert!((pair.effective_modulus() / e - 1.0).abs() < 1e-14);
        assert!((pair.effective_shear_modulus() / g - 1.0).abs() < 1e-14);
        assert_eq!(pair.friction, 0.3);
    }

    #[test]
    fn order_of_the_bodies_turns_the_sign_of_the_coupling_alone() {
        let (a, b) = (material(2e9, 0.2), material(7e9, 0.35));
        let ab = Pair::new(&a, &b, FrictionRule::Average).unwrap();
        let ba = Pair::new(&b, &a, FrictionRule::Average).unwrap();
        assert_eq!((ab.normal, ab.shear, ab.friction), (ba.normal, ba.shear, ba.friction));
        assert!(ab.coupling > 0.0 && ab.coupling == -ba.coupling);
        assert_eq!(Pair::new(&a, &a, FrictionRule::Average).unwrap().coupling, 0.0);
    }

    #[test]
    fn a_rigid_body_adds_no_compliance() {
        let soft = material(1e6, 0.4);
        let pair = Pair::new(&soft, &Material::rigid(0.3), FrictionRule::Minimum).unwrap();
        assert_eq!(pair.normal, (1.0 - 0.4 * 0.4) / 1e6);
        assert_eq!(pair.shear, 0.4 * 1.4 / 1e6);
        assert_eq!(pair.coupling, (1.0 - 2.0 * 0.4) * 1.4 / 1e6);
    }

    #[test]
    fn friction_rules_agree_on_like_materials_except_the_product() {
        use FrictionRule::{Average, GeometricMean, Maximum, Minimum, Product};
        for rule in [Minimum, GeometricMean, Maximum, Average] {
            assert_eq!(rule.combine(0.7, 0.7), 0.7, "{rule:?}");
            assert_eq!(rule.combine(0.2, 0.8), rule.combine(0.8, 0.2), "{rule:?}");
        }
        let rules = [Product, Minimum, GeometricMean, Average, Maximum];
        for (rule, mu) in rules.into_iter().zip([0.16, 0.2, 0.4, 0.5, 0.8]) {
            assert!((rule.combine(0.2, 0.8) - mu).abs() < 1e-15, "{rule:?}");
        }
    }

    #[test]
    fn errors_name_the_field_and_the_value() {
        let cases = [
            (Material { young: -1.0, ..material(1.0, 0.3) }, "young is -1, expected above 0"),
            (material(1.0, 0.6), "poisson is 0.6, expected above -1 and at most 0.5"),
            (material(1.0, f64::NAN), "poisson is NaN, expected above -1 and at most 0.5"),
            (
                Material { friction: -0.1, ..material(1.0, 0.3) },
                "friction is -0.1, expected at least 0 and finite",
            ),
        ];
        for (bad, message) in cases {
            assert_eq!(bad.validate().unwrap_err().to_string(), message);
            assert!(Pair::new(&material(1.0, 0.3), &bad, FrictionRule::Average).is_err());
        }
    }
}
