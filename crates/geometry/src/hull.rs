//! Convex hull of points: corners, flat faces and edges.
//!
//! Incremental: start from four points that span a volume; for every further point, replace the triangles it sees
//! by the fan from it to their horizon. Coplanar triangles are then merged into faces. Points within
//! [`FLAT`](super::shape::FLAT) times the size of a face do not become corners.

use super::shape::{FLAT, InvalidShape, spanning};
use crate::space::{Frame, Vector, add, cross, dot, length, scale, sub, unit};

/// A flat face of a polytope (in a planar scene: a side of a polygon).
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    /// Outward unit normal.
    pub normal: Vector,
    /// Corners, counter-clockwise seen from outside.
    pub corners: Vec<u32>,
    /// Edges: `edges[k]` runs from `corners[k]` to the next one.
    pub edges: Vec<u32>,
}

/// An edge of a polytope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Its ends.
    pub corners: [u32; 2],
    /// The faces it joins; `None` for the bare segment inside a capsule or cylinder.
    pub faces: Option<[u32; 2]>,
}

/// Corners, faces and edges.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Hull {
    pub corners: Vec<Vector>,
    pub faces: Vec<Face>,
    pub edges: Vec<Edge>,
}

/// Hull of a set of points.
pub(super) fn hull(points: &[Vector]) -> Result<Hull, InvalidShape> {
    let (start, thickness, span) = spanning(points);
    if thickness <= FLAT * span {
        return Err(InvalidShape::Flat { thickness });
    }
    let loops = merged(points, &triangles(points, start, FLAT * span), FLAT * span);
    Ok(linked(points, &loops))
}

/// Corners of the hull of a set of points, and its volume.
pub fn convex_hull(points: &[Vector]) -> Result<(Vec<Vector>, f64), InvalidShape> {
    let Hull { corners, faces, .. } = hull(points)?;
    let from = corners[0];
    let at = |k: u32| sub(corners[k as usize], from);
    let six = faces.iter().flat_map(|f| f.corners.windows(2).skip(1).map(|w| (f.corners[0], w[0], w[1])));
    let volume = six.map(|(a, b, c)| dot(at(a), cross(at(b), at(c)))).sum::<f64>() / 6.0;
    Ok((corners, volume))
}

/// Normal (unit) and triangle, for every triangle of the hull.
fn triangles(points: &[Vector], start: [usize; 4], tolerance: f64) -> Vec<(Vector, [usize; 3])> {
    let flat = |t: [usize; 3]| {
        let [a, b, c] = t.map(|i| points[i]);
        (unit(cross(sub(b, a), sub(c, a))), t)
    };
    let center = scale(0.25, start.iter().fold([0.0; 3], |sum, &i| add(sum, points[i])));
    let [a, b, c, d] = start;
    let mut all: Vec<(Vector, [usize; 3])> = [[a, b, c], [a, b, d], [a, c, d], [b, c, d]]
        .into_iter()
        .map(|t| {
            let f = flat(t);
            if dot(f.0, sub(points[t[0]], center)) > 0.0 { f } else { flat([t[0], t[2], t[1]]) }
        })
        .collect();
    for (i, &p) in points.iter().enumerate() {
        let sees = |f: &(Vector, [usize; 3])| dot(f.0, sub(p, points[f.1[0]])) > tolerance;
        let seen: Vec<[usize; 3]> = all.iter().filter(|f| sees(f)).map(|f| f.1).collect();
        if seen.is_empty() {
            continue;
        }
        all.retain(|f| !sees(f));
        let sides: Vec<[usize; 2]> =
            seen.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]).collect();
        for &[u, v] in sides.iter().filter(|s| !sides.contains(&[s[1], s[0]])) {
            let area = cross(sub(points[v], points[u]), sub(p, points[u]));
            if length(area) > 0.0 {
                all.push(flat([u, v, i]));
            }
        }
    }
    all
}

/// Faces as loops of points: triangles in one plane put together.
fn merged(points: &[Vector], all: &[(Vector, [usize; 3])], tolerance: f64) -> Vec<(Vector, Vec<usize>)> {
    let mut used: Vec<usize> = all.iter().flat_map(|f| f.1).collect();
    used.sort_unstable();
    used.dedup();
    // the largest triangles first: their normals are the most exact
    let area = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|i| points[i]);
        length(cross(sub(b, a), sub(c, a)))
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&i, &j| area(&all[j].1).total_cmp(&area(&all[i].1)));
    let mut done = vec![false; all.len()];
    let mut loops = Vec::new();
    for i in order {
        if done[i] {
            continue;
        }
        let (normal, t) = all[i];
        let level = dot(normal, points[t[0]]);
        let members: Vec<usize> = used
            .iter()
            .copied()
            .filter(|&k| t.contains(&k) || (dot(normal, points[k]) - level).abs() <= 4.0 * tolerance)
            .collect();
        for (d, f) in done.iter_mut().zip(all) {
            *d |= f.1.iter().all(|k| members.contains(k)) && dot(f.0, normal) > 0.0;
        }
        loops.push((normal, around(points, &members, normal)));
    }
    loops
}

/// Hull of coplanar points, counter-clockwise about `normal` (Andrew's monotone chain).
fn around(points: &[Vector], members: &[usize], normal: Vector) -> Vec<usize> {
    let frame = Frame::new(normal, [1.0, 0.0, 0.0]);
    let flat = |i: usize| [dot(frame.t, points[i]), dot(frame.o, points[i])];
    let mut sorted = members.to_vec();
    sorted.sort_by(|&i, &j| flat(i)[0].total_cmp(&flat(j)[0]).then(flat(i)[1].total_cmp(&flat(j)[1])));
    let half = |order: &mut dyn Iterator<Item = usize>| {
        let mut chain: Vec<usize> = Vec::new();
        for k in order {
            while let [.., i, j] = chain[..] {
                let (a, b, c) = (flat(i), flat(j), flat(k));
                let (e, f) = ([b[0] - a[0], b[1] - a[1]], [c[0] - b[0], c[1] - b[1]]);
                if e[0] * f[1] - e[1] * f[0] > FLAT * e[0].hypot(e[1]) * f[0].hypot(f[1]) {
                    break;
                }
                chain.pop();
            }
            chain.push(k);
        }
        chain.pop();
        chain
    };
    let mut chain = half(&mut sorted.iter().copied());
    chain.extend(half(&mut sorted.iter().rev().copied()));
    chain
}

/// Numbers corners and edges.
fn linked(points: &[Vector], loops: &[(Vector, Vec<usize>)]) -> Hull {
    let mut used: Vec<usize> = loops.iter().flat_map(|l| l.1.iter().copied()).collect();
    used.sort_unstable();
    used.dedup();
    let number = |i: usize| used.partition_point(|&u| u < i) as u32;
    let mut result = Hull { corners: used.iter().map(|&i| points[i]).collect(), ..Hull::default() };
    for (f, (normal, l)) in loops.iter().enumerate() {
        let corners: Vec<u32> = l.iter().map(|&i| number(i)).collect();
        let mut edges = Vec::new();
        for k in 0..corners.len() {
            let [u, v] = [corners[k], corners[(k + 1) % corners.len()]];
            let known = result.edges.iter().position(|e| e.corners == [v, u]);
            edges.push(known.unwrap_or(result.edges.len()) as u32);
            match known {
                Some(e) => {
                    if let Some(faces) = &mut result.edges[e].faces {
                        faces[1] = f as u32;
                    }
                }
                None => result.edges.push(Edge { corners: [u, v], faces: Some([f as u32; 2]) }),
            }
        }
        result.faces.push(Face { normal: *normal, corners, edges });
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_with_extra_points_has_eight_corners_six_faces_and_twelve_edges() {
        let mut points = Vec::new();
        for k in 0..27 {
            points.push([k % 3, (k / 3) % 3, k / 9].map(|i| f64::from(i) - 1.0));
        }
        let h = hull(&points).unwrap();
        assert_eq!((h.corners.len(), h.faces.len(), h.edges.len()), (8, 6, 12));
        for f in &h.faces {
            assert_eq!(f.corners.len(), 4);
            assert!(f.corners.iter().all(|&c| (dot(f.normal, h.corners[c as usize]) - 1.0).abs() < 1e-15));
        }
    }

    #[test]
    fn points_on_a_sphere_are_all_corners_and_obey_euler() {
        let n = 60;
        let points: Vec<Vector> = (0..n)
            .map(|i| {
                let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / f64::from(n);
                let angle = f64::from(i) * 2.399_963_229_728_653;
                let r = (1.0 - z * z).sqrt();
                [r * angle.cos(), r * angle.sin(), z]
            })
            .collect();
        let h = hull(&points).unwrap();
        assert_eq!(h.corners.len(), 60);
        assert_eq!(h.corners.len() + h.faces.len(), h.edges.len() + 2);
        for f in &h.faces {
            let level = dot(f.normal, h.corners[f.corners[0] as usize]);
            assert!(h.corners.iter().all(|&c| dot(f.normal, c) <= level + 1e-9));
        }
    }
}
