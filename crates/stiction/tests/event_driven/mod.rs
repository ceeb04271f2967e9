//! The rigid ellipse of song2004 section 6 as smooth motions with events between them; shares nothing with the stepper.
//!
//! An ellipse with semi-axes `a`, `b`, turned by `theta`, on the line y = 0: its centre is at the height
//! `r = sqrt(a^2 sin^2 + b^2 cos^2)`, its contact point at `-r'` beside the centre, and the slip speed is `u = x' + r theta'`.
//! With normal force N and friction F
//!
//! ```text
//! m x'' = F     m y'' = N - m g     I theta'' = r F - r' N     y = r(theta)
//! ```
//!
//! is closed by `u = 0` (rolling) or `F = -sign(u) mu N` (sliding). Each motion is integrated by the fifth-order method of
//! Dormand and Prince; a step in which an event happens is cut there: the length of the step is found by bisection.

/// x, theta, x', theta'.
pub type Phase = [f64; 4];

/// What the contact does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// No slip.
    Roll,
    /// Slip to the right (1) or to the left (-1).
    Slide(f64),
}

/// The ellipse.
#[derive(Debug, Clone, Copy)]
pub struct Ellipse {
    /// Semi-axes, m.
    pub a: f64,
    /// m.
    pub b: f64,
    /// kg.
    pub mass: f64,
    /// kg m^2.
    pub inertia: f64,
    /// Coefficient.
    pub friction: f64,
    /// m/s^2.
    pub gravity: f64,
}

/// song2004 section 6.
pub const SONG2004: Ellipse =
    Ellipse { a: 0.1, b: 0.05, mass: 0.05, inertia: 1.5e-4, friction: 0.2, gravity: 9.81 };

/// A motion: the phase at multiples of the step, and when the mode changed.
#[derive(Debug)]
pub struct Motion {
    /// At `k` times the step, the start included.
    pub phases: Vec<Phase>,
    /// Time and the mode from then on.
    pub events: Vec<(f64, Mode)>,
    /// Least normal force, N.
    pub least_normal: f64,
}

impl Ellipse {
    /// Height of the centre and its first two derivatives by the angle.
    pub fn height(&self, theta: f64) -> [f64; 3] {
        let (s, c) = theta.sin_cos();
        let d = self.a * self.a - self.b * self.b;
        let r = (self.b * self.b + d * s * s).sqrt();
        let first = d * s * c / r;
        [r, first, (d * (c * c - s * s) - first * first) / r]
    }

    /// Accelerations x'', theta'', normal force and friction.
    fn forces(&self, [_, theta, _, w]: Phase, mode: Mode) -> [f64; 4] {
        let Self { mass: m, inertia, friction, gravity: g, .. } = *self;
        let [r, r1, r2] = self.height(theta);
        let turn = match mode {
            Mode::Roll => -m * r1 * (g + r2 * w * w + r * w * w) / (inertia + m * (r1 * r1 + r * r)),
            Mode::Slide(sign) => {
                let arm = -r1 - sign * friction * r;
                let normal = m * (g + r2 * w * w) / (1.0 - m * r1 * arm / inertia);
                arm * normal / inertia
            }
        };
        let normal = m * (g + r1 * turn + r2 * w * w);
        let friction = match mode {
            Mode::Roll => -m * (r * turn + r1 * w * w),
            Mode::Slide(sign) => -sign * friction * normal,
        };
        [friction / m, turn, normal, friction]
    }

    /// Slip speed.
    pub fn slip(&self, [_, theta, v, w]: Phase) -> f64 {
        v + self.height(theta)[0] * w
    }

    /// Below zero once the mode is over.
    fn margin(&self, p: Phase, mode: Mode) -> f64 {
        match mode {
            Mode::Roll => {
                let [_, _, normal, friction] = self.forces(p, mode);
                self.friction * normal - friction.abs()
            }
            Mode::Slide(sign) => sign * self.slip(p),
        }
    }

    /// The mode that follows where one is over.
    fn next(&self, p: Phase, mode: Mode) -> Mode {
        let [_, _, normal, friction] = self.forces(p, Mode::Roll);
        match mode {
            // friction at its bound opposes the slip that begins
            Mode::Roll => Mode::Slide(-friction.signum()),
            Mode::Slide(_) if friction.abs() <= self.friction * normal => Mode::Roll,
            Mode::Slide(_) => Mode::Slide(-friction.signum()),
        }
    }

    /// From `start` in a mode that lasts: `steps` steps of `h`.
    pub fn integrate(&self, start: Phase, mode: Mode, h: f64, steps: usize) -> Motion {
        let (mut p, mut mode) = (start, mode);
        let mut motion = Motion { phases: vec![p], events: vec![], least_normal: f64::INFINITY };
        for k in 0..steps {
            let mut done = 0.0;
            while done < h {
                let whole = self.step(p, mode, h - done);
                if self.margin(whole, mode) >= 0.0 {
                    p = whole;
                    break;
                }
                let (mut early, mut late) = (0.0, h - done);
                while 0.5 * (early + late) > early && 0.5 * (early + late) < late {
                    let middle = 0.5 * (early + late);
                    match self.margin(self.step(p, mode, middle), mode) >= 0.0 {
                        true => early = middle,
                        false => late = middle,
                    }
                }
                p = self.step(p, mode, late);
                done += late;
                mode = self.next(p, mode);
                if mode == Mode::Roll {
                    p[2] = -self.height(p[1])[0] * p[3];
                }
                motion.events.push((k as f64 * h + done, mode));
            }
            motion.least_normal = motion.least_normal.min(self.forces(p, mode)[2]);
            motion.phases.push(p);
        }
        motion
    }

    /// A step of Dormand and Prince's method, fifth order.
    fn step(&self, p: Phase, mode: Mode, h: f64) -> Phase {
        const A: [&[f64]; 6] = [
            &[],
            &[1.0 / 5.0],
            &[3.0 / 40.0, 9.0 / 40.0],
            &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
            &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
            &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        ];
        const B: [f64; 6] = [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];
        let mut rates = [[0.0; 4]; 6];
        let moved = |weights: &[f64], rates: &[Phase; 6]| {
            let mut q = p;
            for (i, x) in q.iter_mut().enumerate() {
                *x += h * weights.iter().zip(rates).map(|(w, k)| w * k[i]).sum::<f64>();
            }
            q
        };
        for stage in 0..6 {
            let q = moved(A[stage], &rates);
            let [x2, theta2, ..] = self.forces(q, mode);
            rates[stage] = [q[2], q[3], x2, theta2];
        }
        moved(&B, &rates)
    }
}
