//! Mass properties of a body: given, or from its shapes.

use super::{At, Checker};
use crate::contact::short;
use crate::dynamics::Inertia;
use crate::geometry::{Shape, combined, mass_properties};
use crate::scene::resolved::Part;
use crate::scene::{Body, Material, Numbers};
use crate::space::{Tensor, inverse_spd, length};

/// What stands in for mass properties that are at fault.
const HARMLESS: Inertia =
    Inertia { mass: 1.0, center: [0.0; 3], tensor: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

/// A center of shapes within this share of their radius of gyration is at the origin.
const ROUNDING: f64 = 1e-9;

/// A radius of gyration.
fn radius(tensor: &Tensor, mass: f64) -> f64 {
    ((tensor[0][0] + tensor[1][1] + tensor[2][2]) / mass).sqrt()
}

impl Checker<'_> {
    /// `mass` and `inertia` as given; `mass` alone spreads it over the shapes; neither: by density; mass 0: a massless link.
    pub fn inertia(&mut self, body: &Body, parts: &[Part], materials: &[Material], at: At<'_>) -> Inertia {
        if body.mass == Some(0.0) {
            return self.massless(body, at);
        }
        let mass = body.mass.map(|m| self.positive(m, at.key("mass")));
        let density = body.density.map(|d| self.positive(d, at.key("density")));
        if mass.is_some() && density.is_some() {
            self.fault(at.key("density"), "density beside mass, expected one of them");
        }
        if let Some(given) = &body.inertia {
            let Some(mass) = mass else {
                self.fault(at.key("inertia"), "inertia without mass, expected both");
                return HARMLESS;
            };
            return self.given_inertia(body, mass, given, parts, at);
        }
        if body.center.is_some() {
            self.fault(at.key("center"), "center without inertia, expected both");
        }
        self.inertia_of_shapes(&body.name, (mass, density), parts, materials, at.key("name"))
    }

    /// A link that only connects joints. Whether these move something that has inertia, the mass matrix tells.
    fn massless(&mut self, body: &Body, at: At<'_>) -> Inertia {
        if body.inertia.as_ref().is_some_and(|given| given.iter().any(|x| *x != 0.0)) {
            // only without inertia it is a massless link
            self.positive(0.0, at.key("mass"));
        }
        if body.density.is_some() {
            self.fault(at.key("density"), "density beside mass, expected one of them");
        }
        let center = body.center.as_ref().map_or([0.0; 3], |c| self.vector(c, at.key("center")));
        Inertia { mass: 0.0, center, tensor: [[0.0; 3]; 3] }
    }

    /// Mass and inertia that are given; a center that is not is that of the shapes, as for a mass alone.
    fn given_inertia(
        &mut self,
        body: &Body,
        mass: f64,
        given: &Numbers,
        parts: &[Part],
        at: At<'_>,
    ) -> Inertia {
        let here = at.key("inertia");
        let before = self.faults.len();
        let tensor = self.tensor(given, here);
        let even: Option<Vec<_>> =
            parts.iter().map(|p| Some((mass_properties(&p.shape, 1.0, self.planar)?, p.pose))).collect();
        let even = even.as_deref().and_then(combined);
        let center = match (&body.center, &even) {
            (Some(center), _) => self.vector(center, at.key("center")),
            (None, Some(even)) if length(even.center) > ROUNDING * radius(&even.tensor, even.mass) => {
                let [x, y, z] = even.center.map(short);
                let place = if self.planar { format!("[{x}, {y}]") } else { format!("[{x}, {y}, {z}]") };
                let message = format!(
                    "inertia without center: the center of mass is that of the shapes, {place} (center = {place} says so)"
                );
                self.warn(here, message);
                even.center
            }
            (None, None) if parts.iter().any(|p| p.pose.position != [0.0; 3]) => {
                let message = "inertia without center: the center of mass is the body's origin, for that of its shapes is not computed";
                self.warn(here, message);
                [0.0; 3]
            }
            (None, _) => [0.0; 3],
        };
        let inertia = Inertia { mass, center, tensor };
        if self.faults.len() == before {
            let own = even.map(|even| even.tensor.map(|row| row.map(|x| x * mass / even.mass)));
            self.doubt_inertia(&inertia, own.as_ref(), parts, here);
        }
        inertia
    }

    fn inertia_of_shapes(
        &mut self,
        name: &str,
        (mass, density): (Option<f64>, Option<f64>),
        parts: &[Part],
        materials: &[Material],
        at: At<'_>,
    ) -> Inertia {
        if parts.is_empty() {
            let message =
                format!("body '{name}' has no shape to take its inertia from, expected mass and inertia");
            self.fault(at, message);
            return HARMLESS;
        }
        let mut masses = Vec::new();
        for part in parts {
            let material = &materials[part.material];
            // a given mass is spread evenly
            let density = mass.map(|_| 1.0).or(density).or(material.density);
            let Some(density) = density else {
                let message = match part.shape {
                    Shape::HalfSpace => {
                        format!("body '{name}' has a half_space, expected mass and inertia for it")
                    }
                    _ => format!(
                        "body '{name}' has no mass, expected mass, or density of it or its material '{}'",
                        material.name
                    ),
                };
                self.fault(at, message);
                return HARMLESS;
            };
            let Some(inertia) = mass_properties(&part.shape, density, self.planar) else {
                let message = match &part.shape {
                    Shape::HalfSpace => {
                        format!("body '{name}' has a half_space, expected mass and inertia for it")
                    }
                    other => format!(
                        "the inertia of the {} of body '{name}' is not computed, expected mass and inertia",
                        other.name()
                    ),
                };
                self.fault(at, message);
                return HARMLESS;
            };
            masses.push((inertia, part.pose));
        }
        let sum = combined(&masses).map(|sum| {
            let mut tensor = sum.tensor;
            if self.planar {
                let about_z = tensor[2][2];
                tensor = HARMLESS.tensor.map(|row| row.map(|x| about_z * x));
            }
            let factor = mass.map_or(1.0, |m| m / sum.mass);
            let tensor = tensor.map(|row| row.map(|x| factor * x));
            Inertia { mass: mass.unwrap_or(sum.mass), center: sum.center, tensor }
        });
        let finite = |i: &Inertia| i.tensor.iter().flatten().chain(&i.center).all(|x| x.is_finite());
        sum.filter(|i| finite(i) && inverse_spd(&i.tensor).is_some()).unwrap_or_else(|| {
            let message = format!("body '{name}' is too small or too large: its inertia is out of range");
            self.fault(at, message);
            HARMLESS
        })
    }

    /// A tensor from [xx, yy, zz], [xx, yy, zz, xy, xz, yz] or, in a planar scene, one number.
    fn tensor(&mut self, given: &Numbers, at: At<'_>) -> Tensor {
        let tensor = match (self.planar, &given[..]) {
            (true, &[i]) => [[i, 0.0, 0.0], [0.0, i, 0.0], [0.0, 0.0, i]],
            (false, &[a, b, c]) => [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]],
            (false, &[a, b, c, d, e, f]) => [[a, d, e], [d, b, f], [e, f, c]],
            (planar, numbers) => {
                let expected =
                    if planar { "one number" } else { "3 ([xx, yy, zz]) or 6 ([xx, yy, zz, xy, xz, yz])" };
                let message = format!("inertia has {} numbers, expected {expected}", numbers.len());
                self.fault(at, message);
                return HARMLESS.tensor;
            }
        };
        if inverse_spd(&tensor).is_none() {
            self.fault(at, "inertia is not positive definite, expected moments above 0");
            return HARMLESS.tensor;
        }
        // no principal moment above the sum of the others: trace/2 E - I is not negative; thin bodies are at the limit
        let trace = tensor[0][0] + tensor[1][1] + tensor[2][2];
        let spread = [0, 1, 2].map(|i| {
            [0, 1, 2].map(|j| if i == j { (0.5 + 1e-9) * trace - tensor[i][j] } else { -tensor[i][j] })
        });
        if inverse_spd(&spread).is_none() {
            self.fault(at, "no body has such an inertia: a moment is above the sum of the two others");
        }
        tensor
    }
}
