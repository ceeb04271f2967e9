//! Triangles and lines with a depth buffer.

use crate::mesh::Mesh;
use crate::scenery::Scenery;
use stiction::space::{Pose, Vector, add, dot, scale, sub, unit};

/// Opacity of marks behind bodies.
const FAINT: f32 = 0.5;
/// Lines are drawn this share of their distance nearer than triangles, so that edges are seen.
const NEARER: f64 = 2e-3;

/// Where the picture is taken from.
#[derive(Debug, Clone)]
pub(super) struct Camera {
    eye: Vector,
    /// Right, up, and towards the viewer.
    axes: [Vector; 3],
    /// Pixels per unit of the tangent, or per metre where everything is seen from infinity.
    scale: f64,
    parallel: bool,
    light: Vector,
    radius: f64,
    center: Vector,
}

impl Camera {
    /// The first look of the page.
    pub fn of(scenery: &Scenery, [width, height]: [usize; 2]) -> Self {
        let axes = scenery.directions();
        let [width, height] = [width, height].map(|n| (n * super::SAMPLES) as f64);
        let [wide, high, deep] = scenery.extent.map(|x| Scenery::MARGIN * x);
        let tangent = Scenery::HALF_ANGLE.tan();
        let (scale_, distance) = if scenery.planar {
            (0.5 * (width / wide).min(height / high), 10.0 * scenery.radius)
        } else {
            (0.5 * height / tangent, deep + (high / tangent).max(wide / (tangent * width / height)))
        };
        let light = add(add(scale(0.35, axes[0]), scale(0.9, scenery.up)), scale(0.5, axes[2]));
        Self {
            eye: add(scenery.center, scale(distance, axes[2])),
            axes,
            scale: scale_,
            parallel: scenery.planar,
            light: unit(light),
            radius: scenery.radius,
            center: scenery.center,
        }
    }

    /// Right, up and depth in front of the eye.
    fn see(&self, point: Vector) -> Vector {
        let from = sub(point, self.eye);
        [dot(from, self.axes[0]), dot(from, self.axes[1]), -dot(from, self.axes[2])]
    }

    /// Pixel and inverse depth, which is linear over the picture.
    fn project(&self, [x, y, depth]: Vector, [width, height]: [usize; 2]) -> [f64; 3] {
        let factor = if self.parallel { self.scale } else { self.scale / depth };
        let over = if self.parallel { -depth } else { 1.0 / depth };
        [0.5 * width as f64 + factor * x, 0.5 * height as f64 - factor * y, over]
    }

    fn near(&self) -> f64 {
        if self.parallel { f64::NEG_INFINITY } else { 1e-2 * self.radius }
    }
}

/// How triangles are painted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub color: [f64; 3],
    /// Without light.
    pub flat: bool,
    /// Side of the squares of a chequered plane, m.
    pub checks: Option<f64>,
    /// Whether it is seen from its front alone.
    pub front: bool,
    /// Far away it becomes this colour.
    pub fade: Option<[f64; 3]>,
    /// Planar pictures: what lies over what; in space, marks that are seen through bodies are 1.
    pub layer: f64,
}

/// A picture in the making.
#[derive(Debug)]
pub(super) struct Canvas {
    size: [usize; 2],
    pixels: Vec<[f32; 3]>,
    depth: Vec<f64>,
    camera: Camera,
}

/// A corner: where it is seen, where it is, and its normal.
type Corner = (Vector, Vector, Vector);

impl Canvas {
    pub fn new(size: [usize; 2], background: [f64; 3], camera: Camera) -> Self {
        let n = size[0] * size[1];
        let pixels = vec![background.map(|c| c as f32); n];
        Self { size, pixels, depth: vec![f64::NEG_INFINITY; n], camera }
    }

    pub fn mesh(&mut self, mesh: &Mesh, pose: &Pose, paint: &Paint) {
        let corner = |i: u32| -> Corner {
            let world = pose.point(mesh.vertices[i as usize]);
            (self.camera.see(world), world, pose.attitude.apply(mesh.normals[i as usize]))
        };
        let triangles: Vec<[Corner; 3]> = mesh.triangles.iter().map(|t| t.map(corner)).collect();
        for triangle in triangles {
            for part in clipped(&triangle, self.camera.near()) {
                self.triangle(&part, paint);
            }
        }
    }

    fn triangle(&mut self, corners: &[Corner; 3], paint: &Paint) {
        let [width, height] = self.size;
        let p = corners.map(|c| self.camera.project(c.0, self.size));
        let area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
        // the picture's y points down: fronts turn the other way round
        if area == 0.0 || !area.is_finite() || (paint.front && area > 0.0) {
            return;
        }
        let range = |k: usize, most: usize| {
            let (low, high) = (p[0][k].min(p[1][k]).min(p[2][k]), p[0][k].max(p[1][k]).max(p[2][k]));
            (low.floor().max(0.0) as usize)..((high.ceil() + 1.0).clamp(0.0, most as f64) as usize)
        };
        for y in range(1, height) {
            for x in range(0, width) {
                let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                let edge = |i: usize, j: usize| {
                    ((p[j][0] - p[i][0]) * (py - p[i][1]) - (px - p[i][0]) * (p[j][1] - p[i][1])) / area
                };
                let w = [edge(1, 2), edge(2, 0), edge(0, 1)];
                if w.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let over = w[0] * p[0][2] + w[1] * p[1][2] + w[2] * p[2][2];
                let near = if self.camera.parallel { paint.layer } else { over };
                let at = y * width + x;
                let hidden = near <= self.depth[at];
                let mark = paint.layer >= 1.0 && !self.camera.parallel;
                if hidden && !mark {
                    continue;
                }
                // perspective: shares in space
                let share = match self.camera.parallel {
                    true => w,
                    false => [0, 1, 2].map(|k| w[k] * p[k][2] / over),
                };
                let mix = |value: fn(&Corner) -> Vector| {
                    (0..3).fold([0.0; 3], |sum, k| add(sum, scale(share[k], value(&corners[k]))))
                };
                let color = self.shade(mix(|c| c.1), mix(|c| c.2), paint).map(|c| c as f32);
                if hidden {
                    // forces within bodies are seen faintly
                    let old = self.pixels[at];
                    self.pixels[at] = [0, 1, 2].map(|k| old[k] + FAINT * (color[k] - old[k]));
                } else {
                    self.depth[at] = near;
                    self.pixels[at] = color;
                }
            }
        }
    }

    fn shade(&self, point: Vector, normal: Vector, paint: &Paint) -> [f64; 3] {
        let mut color = paint.color;
        if let Some(side) = paint.checks {
            let frame = stiction::space::Frame::new(unit(normal), [1.0, 0.0, 0.0]);
            let [_, a, b] = frame.components(point);
            if ((a / side).floor() + (b / side).floor()).rem_euclid(2.0) < 0.5 {
                color = color.map(|c| 0.955 * c);
            }
        }
        if !paint.flat {
            let normal = unit(normal);
            let (sun, eye) = (dot(normal, self.camera.light), dot(normal, self.camera.axes[2]));
            let light = 0.5 + 0.4 * sun.max(0.0) + 0.2 * eye.max(0.0);
            color = color.map(|c| (c * light).min(1.0));
        }
        if let Some(background) = paint.fade {
            let far = stiction::space::length(sub(point, self.camera.center)) / self.camera.radius;
            let share = if self.camera.parallel { 0.0 } else { ((far - 2.0) / 8.0).clamp(0.0, 1.0) };
            color = [0, 1, 2].map(|k| (1.0 - share) * color[k] + share * background[k]);
        }
        color
    }

    /// Lines of about one pixel of the reduced picture.
    pub fn lines(&mut self, lines: &[[Vector; 2]], pose: &Pose, color: [f64; 3], layer: f64) {
        let [width, height] = self.size;
        for ends in lines {
            let seen = ends.map(|e| self.camera.see(pose.point(e)));
            if seen.iter().any(|s| s[2] < self.camera.near()) {
                continue;
            }
            let [a, b] = seen.map(|s| self.camera.project(s, self.size));
            let n = (b[0] - a[0]).abs().max((b[1] - a[1]).abs()).ceil().min(20_000.0);
            for k in 0..=n as usize {
                let s = if n > 0.0 { k as f64 / n } else { 0.0 };
                let [x, y, over] = [0, 1, 2].map(|i| a[i] + s * (b[i] - a[i]));
                let near = match self.camera.parallel {
                    true => layer + 0.25,
                    false => over * (1.0 + NEARER),
                };
                for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
                    let (x, y) = (x + dx, y + dy);
                    if x < 0.0 || y < 0.0 || x >= width as f64 || y >= height as f64 {
                        continue;
                    }
                    let at = y as usize * width + x as usize;
                    if near >= self.depth[at] {
                        let share = 0.45f32;
                        let old = self.pixels[at];
                        self.depth[at] = near;
                        self.pixels[at] = [0, 1, 2].map(|c| old[c] + share * (color[c] as f32 - old[c]));
                    }
                }
            }
        }
    }

    /// Averages squares of samples; three bytes per pixel.
    pub fn reduce(&self, samples: usize) -> Vec<u8> {
        let [width, height] = self.size.map(|n| n / samples);
        let mut bytes = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            for x in 0..width {
                for c in 0..3 {
                    let sum: f32 = (0..samples * samples)
                        .map(|k| {
                            let (i, j) = (k % samples, k / samples);
                            self.pixels[(y * samples + j) * self.size[0] + x * samples + i][c]
                        })
                        .sum();
                    bytes.push((255.0 * sum / (samples * samples) as f32).round().clamp(0.0, 255.0) as u8);
                }
            }
        }
        bytes
    }
}

/// What of a triangle lies beyond a depth.
fn clipped(corners: &[Corner; 3], near: f64) -> Vec<[Corner; 3]> {
    if corners.iter().all(|c| c.0[2] > near) {
        return vec![*corners];
    }
    let mut kept: Vec<Corner> = vec![];
    for k in 0..3 {
        let (a, b) = (&corners[k], &corners[(k + 1) % 3]);
        if a.0[2] > near {
            kept.push(*a);
        }
        if (a.0[2] > near) != (b.0[2] > near) {
            let s = (near - a.0[2]) / (b.0[2] - a.0[2]);
            let mix = |p: Vector, q: Vector| add(scale(1.0 - s, p), scale(s, q));
            let mut cut = (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2));
            cut.0[2] = cut.0[2].max(near * (1.0 + 1e-9));
            kept.push(cut);
        }
    }
    (2..kept.len()).map(|k| [kept[0], kept[k - 1], kept[k]]).collect()
}
