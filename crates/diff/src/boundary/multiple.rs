//! Multiple shooting: the states at the ends of segments are unknowns too, so that errors do not grow over the whole run.
//!
//! Segments run from nodes; the defects between the end of one and the node of the next are driven to zero together with the
//! residual. Newton's step condenses to the unknowns of the problem: `dx_i = B_i dz + c_i`, carried through the derivatives
//! of the segments. Deformations of contacts at a node are those at the end of the segment before.

use super::least_squares::{largest, step_within};
use super::problem::Problem;
use super::solve::{End, Found, OPEN, SHORT, finish, newton, sizes};
use super::svd::{Svd, dot};
use super::{NotDifferentiable, Parameters, displace, forward, separation, tangent_size};
use crate::inputs::Inputs;
use crate::state::State;
use crate::stepper::Stepper;
use complementarity::matrix::Matrix;

/// Growth of the merit from which a step is taken back.
const WORSE: f64 = 2.0;

/// A segment: where it ends, and its derivative in columns.
struct Segment {
    end: State,
    columns: Vec<Vec<f64>>,
}

/// All segments from their nodes.
struct Pass {
    segments: Vec<Segment>,
    residual: Vec<f64>,
    defects: Vec<Vec<f64>>,
    /// Norm of residual and defects.
    merit: f64,
}

/// The condensed step: tangents at the nodes after the first by the unknowns and by themselves, and the equations for the
/// unknowns.
struct Condensed {
    nodes: Vec<(Vec<Vec<f64>>, Vec<f64>)>,
    jacobian: Matrix,
    against: Vec<f64>,
}

/// Multiple shooting. The time must be known.
pub(super) fn multiple(problem: &Problem, stepper: &mut Stepper, z: &[f64]) -> Found {
    let fail = |why: String, z: &[f64]| finish(problem, End::Failed(why), z.to_vec(), None, (0, 0), vec![]);
    if problem.time_bounds.is_some() {
        return fail("multiple shooting needs a known time: expected no time_bounds".to_owned(), z);
    }
    let (count, h, mut z) = (problem.segments.min(problem.steps), problem.step(z), z.to_vec());
    let lengths: Vec<usize> =
        (0..count).map(|i| (i + 1) * problem.steps / count - i * problem.steps / count).collect();
    let (sizes, bounds) = (sizes(problem), problem.bounds());
    let mut nodes = first_nodes(problem, stepper, &z, &lengths, h);
    let (mut history, mut radius, mut shots) = (vec![], 1.0f64, 1);
    let mut best: Option<(f64, Vec<State>, Vec<f64>)> = None;
    for _ in 0..problem.iterations {
        shots += 1;
        let pass = Pass::new(problem, stepper, &nodes, &lengths, h);
        let worse = |pass: &Pass| best.as_ref().is_some_and(|(merit, _, _)| pass.merit > WORSE * merit);
        let pass = match (pass, &best) {
            (Ok(pass), _) if !worse(&pass) => pass,
            (Err(why), None) => return fail(why.to_string(), &z),
            (_, None) => break,
            // taken back: a quarter of the way
            (_, Some((_, old, old_z))) => {
                radius *= 0.25;
                if radius < SHORT {
                    break;
                }
                for (node, old) in nodes.iter_mut().zip(old) {
                    let mut back = separation(&problem.model, node, old);
                    back.iter_mut().for_each(|x| *x *= 0.25);
                    *node = old.clone();
                    displace(&problem.model, node, &back);
                }
                z.iter_mut().zip(old_z).for_each(|(z, old)| *z = old + 0.25 * (*z - old));
                continue;
            }
        };
        history.push(pass.merit);
        let closed = pass.defects.iter().map(|d| largest(d)).fold(0.0, f64::max);
        if largest(&pass.residual).max(closed) <= 0.1 * problem.tolerance {
            break;
        }
        best = Some((pass.merit, nodes.clone(), z.clone()));
        let step = pass.condense(problem, &nodes[0], &sizes);
        let p = step_within(&Svd::new(&step.jacobian), &step.against, radius, OPEN);
        radius = (2.0 * radius).min(1.0);
        let dz: Vec<f64> =
            (0..z.len()).map(|j| (z[j] + p[j] * sizes[j]).clamp(bounds[j][0], bounds[j][1]) - z[j]).collect();
        z.iter_mut().zip(&dz).for_each(|(z, d)| *z += d);
        pass.move_nodes(problem, &step, &dz, &mut nodes);
        nodes[0] = problem.start(&z);
    }
    let iterations = history.len();
    // what counts is the run from the start, in one piece; Newton's method ends the search if need be
    match problem.shoot(stepper, &z) {
        Ok(shot) if largest(&shot.residual) <= problem.tolerance => {
            finish(problem, End::Solved, z, Some(shot), (iterations, shots + 1), history)
        }
        Ok(_) => {
            let mut polished = newton(problem, stepper, &z);
            polished.iterations += iterations;
            polished.shots += shots + 1;
            history.append(&mut polished.history);
            Found { history, ..polished }
        }
        Err(why) => finish(problem, End::Failed(why.to_string()), z, None, (iterations, shots + 1), history),
    }
}

/// Nodes on a first run; where it fails, the last state stays.
fn first_nodes(problem: &Problem, stepper: &mut Stepper, z: &[f64], lengths: &[usize], h: f64) -> Vec<State> {
    let mut nodes = vec![problem.start(z)];
    let mut state = nodes[0].clone();
    for steps in &lengths[..lengths.len() - 1] {
        for _ in 0..*steps {
            if stepper.step_by(&mut state, &Inputs::default(), h).is_err() {
                break;
            }
        }
        nodes.push(state.clone());
    }
    nodes
}

impl Segment {
    /// Runs from a node, with the derivative by all of its state.
    fn new(
        problem: &Problem,
        stepper: &mut Stepper,
        node: &State,
        steps: usize,
        h: f64,
    ) -> Result<Self, NotDifferentiable> {
        let size = tangent_size(&problem.model, node);
        let unit = |j: usize| ((0..size).map(|i| f64::from(u8::from(i == j))).collect(), vec![]);
        let directions: Vec<(Vec<f64>, Vec<f64>)> = (0..size).map(unit).collect();
        let lengths = std::iter::repeat_n(h, steps);
        let run = forward(stepper, node, lengths, &directions, &Parameters::default())?;
        Ok(Self { end: run.state, columns: run.tangents })
    }

    /// The tangent at the end from one at the node.
    fn push(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.columns.first().map_or(0, Vec::len)];
        for (x, column) in x.iter().zip(&self.columns) {
            out.iter_mut().zip(column).for_each(|(o, a)| *o += x * a);
        }
        out
    }
}

impl Pass {
    fn new(
        problem: &Problem,
        stepper: &mut Stepper,
        nodes: &[State],
        lengths: &[usize],
        h: f64,
    ) -> Result<Self, NotDifferentiable> {
        let mut segments = vec![];
        for (node, steps) in nodes.iter().zip(lengths) {
            segments.push(Segment::new(problem, stepper, node, *steps, h)?);
        }
        let residual = segments.last().map_or_else(Vec::new, |s| problem.residual(&nodes[0], &s.end));
        let defects: Vec<Vec<f64>> = segments
            .iter()
            .zip(&nodes[1..])
            .map(|(s, node)| separation(&problem.model, &s.end, node))
            .collect();
        let merit = (dot(&residual, &residual) + defects.iter().map(|d| dot(d, d)).sum::<f64>()).sqrt();
        Ok(Self { segments, residual, defects, merit })
    }

    /// Newton's step, condensed to the unknowns.
    fn condense(&self, problem: &Problem, start: &State, sizes: &[f64]) -> Condensed {
        let n = problem.model.system().velocity_size();
        let first = problem.directions();
        let (mut b, mut c, mut nodes) = (first.clone(), vec![0.0; 2 * n], vec![]);
        for (i, segment) in self.segments.iter().enumerate() {
            b = b.iter().map(|x| segment.push(x)).collect();
            c = segment.push(&c);
            if let Some(d) = self.defects.get(i) {
                c.iter_mut().zip(d).for_each(|(c, d)| *c += d);
                nodes.push((b.clone(), c.clone()));
            }
        }
        let end = self.segments.last().map_or(start, |s| &s.end);
        let shift = problem.slope([start, end], [&vec![0.0; 2 * n], &c]);
        let against = self.residual.iter().zip(&shift).map(|(r, s)| -(r + s)).collect();
        let mut jacobian = Matrix::zeros(self.residual.len(), sizes.len());
        for j in 0..sizes.len() {
            let column = problem.slope([start, end], [&first[j], &b[j]]);
            column.iter().enumerate().for_each(|(i, x)| jacobian[(i, j)] = x * sizes[j]);
        }
        Condensed { nodes, jacobian, against }
    }

    /// Moves the nodes after the first along the step; deformations are those at the ends of segments.
    fn move_nodes(&self, problem: &Problem, step: &Condensed, dz: &[f64], nodes: &mut [State]) {
        let n = problem.model.system().velocity_size();
        for i in 1..nodes.len() {
            let (b, c) = &step.nodes[i - 1];
            let mut next = self.segments[i - 1].end.clone();
            let mut moved = separation(&problem.model, &nodes[i], &next);
            moved.iter_mut().zip(&c[..2 * n]).for_each(|(m, c)| *m += c);
            for (d, column) in dz.iter().zip(b) {
                moved.iter_mut().zip(column).for_each(|(m, x)| *m += d * x);
            }
            displace(&problem.model, &mut next, &moved);
            nodes[i] = next;
        }
    }
}
