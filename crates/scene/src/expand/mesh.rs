//! Convex hulls of meshes in STL (ASCII, binary) and OBJ files.

use crate::geometry::{MOST_VERTICES, convex_hull};
use crate::space::{Vector, cross, dot};
use std::collections::HashMap;
use std::path::Path;

/// Largest file, bytes, and most distinct vertices.
const LARGEST: u64 = 64 << 20;
const MOST_POINTS: usize = 20_000;
/// A mesh whose volume is smaller than that of its hull by more than this share is not convex.
const CONVEX: f64 = 1e-6;

/// Corners of a mesh's hull, and warnings.
#[derive(Debug)]
pub(super) struct Hulled {
    pub corners: Vec<Vector>,
    pub warning: Option<String>,
}

/// Vertices and triangles.
#[derive(Debug, Default)]
struct Mesh {
    vertices: Vec<Vector>,
    triangles: Vec<[usize; 3]>,
}

/// Reads a mesh, scales it and takes its hull. An open mesh is refused unless `hull` says that its hull is meant.
pub(super) fn read(path: &Path, shown: &str, scale: f64, hull: bool) -> Result<Hulled, String> {
    let length = std::fs::metadata(path).map_err(|e| format!("mesh '{shown}': {e}"))?.len();
    if length > LARGEST {
        return Err(format!("mesh '{shown}' has {length} bytes, expected at most {LARGEST}"));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("mesh '{shown}': {e}"))?;
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let mesh = match ending.as_str() {
        "stl" => stl(&bytes),
        "obj" => obj(&bytes),
        _ => Err("expected a file that ends in .stl or .obj".to_owned()),
    };
    let mut mesh = mesh.map_err(|e| format!("mesh '{shown}': {e}"))?;
    let wrong = |why: String| format!("mesh '{shown}': {why}");
    if mesh.triangles.is_empty() {
        return Err(wrong("no triangles".to_owned()));
    }
    if mesh.vertices.len() > MOST_POINTS {
        let count = mesh.vertices.len();
        return Err(wrong(format!("{count} vertices, expected at most {MOST_POINTS}: simplify it")));
    }
    mesh.vertices.iter_mut().flatten().for_each(|x| *x *= scale);
    if let Some(x) = mesh.vertices.iter().flatten().find(|x| !x.is_finite()) {
        return Err(wrong(format!("a coordinate is {x}, expected a finite number")));
    }
    let (corners, volume) = convex_hull(&mesh.vertices).map_err(|e| wrong(e.to_string()))?;
    if corners.len() > MOST_VERTICES {
        return Err(wrong(format!(
            "its hull has {} corners, expected at most {MOST_VERTICES}",
            corners.len()
        )));
    }
    let warning = match mesh.open_edges() {
        0 => {
            let share = mesh.volume().abs() / volume;
            (share < 1.0 - CONVEX).then(|| {
                let percent = 100.0 * share;
                format!(
                    "mesh '{shown}' is not convex: its hull stands for it, of which it fills {percent:.1} %"
                )
            })
        }
        edges if hull => Some(format!(
            "mesh '{shown}' is open at {edges} edges: its hull stands for it, and the mass is that of the hull"
        )),
        edges => {
            let hint =
                "expected a closed surface with faces oriented alike (hull = true takes its convex hull)";
            return Err(wrong(format!("open at {edges} edges, {hint}")));
        }
    };
    Ok(Hulled { corners, warning })
}

impl Mesh {
    /// Edges that are not passed once in each direction.
    fn open_edges(&self) -> usize {
        let mut edges: HashMap<[usize; 2], [usize; 2]> = HashMap::new();
        for &[a, b, c] in &self.triangles {
            for [u, v] in [[a, b], [b, c], [c, a]] {
                let passed = edges.entry([u.min(v), u.max(v)]).or_default();
                passed[usize::from(u > v)] += 1;
            }
        }
        edges.values().filter(|passed| **passed != [1, 1]).count()
    }

    fn volume(&self) -> f64 {
        // from a vertex, so that far meshes keep their digits
        let from = self.vertices[self.triangles[0][0]];
        let six = self.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|i| crate::space::sub(self.vertices[i], from));
            dot(a, cross(b, c))
        });
        six.sum::<f64>() / 6.0
    }

    /// Adds a triangle, unless it has no extent.
    fn add(&mut self, t: [usize; 3]) {
        if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
            self.triangles.push(t);
        }
    }
}

/// Vertices by their coordinates: STL repeats them in every triangle.
#[derive(Debug, Default)]
struct Known(HashMap<[u64; 3], usize>);

impl Known {
    fn number(&mut self, mesh: &mut Mesh, x: Vector) -> usize {
        // -0 and 0 are one
        let key = x.map(|x| (x + 0.0).to_bits());
        *self.0.entry(key).or_insert_with(|| {
            mesh.vertices.push(x);
            mesh.vertices.len() - 1
        })
    }
}

fn stl(bytes: &[u8]) -> Result<Mesh, String> {
    let count = bytes.get(80..84).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let (mut mesh, mut known) = (Mesh::default(), Known::default());
    if let Some(count) = count
        && bytes.len() as u64 == 84 + 50 * u64::from(count)
    {
        for facet in bytes[84..].chunks_exact(50) {
            let number = |k: usize| {
                let four = [0, 1, 2, 3].map(|i| facet[12 + 4 * k + i]);
                f64::from(f32::from_le_bytes(four))
            };
            let t = [0, 1, 2].map(|v| known.number(&mut mesh, [0, 1, 2].map(|i| number(3 * v + i))));
            mesh.add(t);
        }
        return Ok(mesh);
    }
    let text = std::str::from_utf8(bytes).ok().filter(|t| t.trim_start().starts_with("solid"));
    let text =
        text.ok_or("neither binary STL (its size does not fit its count of triangles) nor ASCII STL")?;
    let mut corners = vec![];
    for (line, words) in lines(text) {
        match words[0] {
            "vertex" => corners.push(known.number(&mut mesh, vector(line, &words[1..])?)),
            "endfacet" => match corners[..] {
                [a, b, c] => {
                    mesh.add([a, b, c]);
                    corners.clear();
                }
                _ => return Err(format!("line {line}: a facet of {} vertices, expected 3", corners.len())),
            },
            "solid" | "facet" | "outer" | "endloop" | "endsolid" => {}
            other => return Err(format!("line {line}: unexpected '{}'", other.escape_debug())),
        }
    }
    match corners.is_empty() {
        true => Ok(mesh),
        false => Err("the last facet has no end".to_owned()),
    }
}

fn obj(bytes: &[u8]) -> Result<Mesh, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "no text, as OBJ files are".to_owned())?;
    let (mut mesh, mut known, mut numbers) = (Mesh::default(), Known::default(), vec![]);
    for (line, words) in lines(text) {
        match words[0] {
            "v" => numbers.push(known.number(&mut mesh, vector(line, &words[1..])?)),
            "f" => {
                let corner = |word: &&str| {
                    let first = word.split('/').next().unwrap_or_default();
                    let wrong = || format!("line {line}: no vertex '{}'", word.escape_debug());
                    let index: i64 = first.parse().map_err(|_| wrong())?;
                    let place = if index < 0 { numbers.len() as i64 + index } else { index - 1 };
                    usize::try_from(place).ok().and_then(|k| numbers.get(k).copied()).ok_or_else(wrong)
                };
                let corners = words[1..].iter().map(corner).collect::<Result<Vec<usize>, String>>()?;
                if corners.len() < 3 {
                    return Err(format!(
                        "line {line}: a face of {} vertices, expected 3 or more",
                        corners.len()
                    ));
                }
                for k in 1..corners.len() - 1 {
                    mesh.add([corners[0], corners[k], corners[k + 1]]);
                }
            }
            // texture, normals, groups, materials
            _ => {}
        }
    }
    Ok(mesh)
}

/// Lines that say something, numbered from 1, as words.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let lines = text.lines().enumerate().map(|(k, line)| {
        (k + 1, line.split('#').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>())
    });
    lines.filter(|(_, words)| !words.is_empty())
}

fn vector(line: usize, words: &[&str]) -> Result<Vector, String> {
    let number = |k: usize| {
        let word = words.get(k).ok_or_else(|| format!("line {line}: {k} coordinates, expected 3"))?;
        word.parse::<f64>().map_err(|_| format!("line {line}: '{}' is no number", word.escape_debug()))
    };
    Ok([number(0)?, number(1)?, number(2)?])
}
