//! Images without a screen and a browser: the meshes of the page, drawn into a depth buffer, as PNG and animated PNG.

mod raster;

use crate::clip::{Clip, Touch};
use crate::mesh::Mesh;
use raster::{Camera, Canvas, Paint};
use stiction::space::{Pose, Quaternion, Vector, add, dot, length, scale, sub, unit};
use stiction::step::Status;

/// Samples along each side of a pixel.
const SAMPLES: usize = 2;
/// Elements from which on a contact is drawn as its resultant.
const MOST_ARROWS: usize = 4;
/// Most frames of an animation.
const MOST_FRAMES: usize = 10_000;

/// Colours of bodies, one after the other: those of the page, as are all others.
const BODIES: [u32; 8] =
    [0x5c_82b5, 0xd9_9a55, 0x78_a880, 0xb5_7685, 0x8f_80b5, 0x73_a8b3, 0xc7_b36b, 0x99_8f85];
const STICK: u32 = 0x1f_6fd6;
const SLIP: u32 = 0xe4_570b;
const OPEN: u32 = 0x8b_9098;
const SPRING: u32 = 0x9a_5fc0;

fn hex(color: u32) -> [f64; 3] {
    [16, 8, 0].map(|shift| f64::from(color >> shift & 0xff) / 255.0)
}

/// How an image looks.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Width and height, pixels.
    pub size: [usize; 2],
    /// Light on dark.
    pub dark: bool,
    /// Whether contact points and forces are drawn.
    pub contacts: bool,
}

/// A frame as a PNG file.
///
/// # Errors
/// What the encoder refuses.
pub fn image(clip: &Clip, frame: usize, look: &Look) -> Result<Vec<u8>, String> {
    encode(look.size, None, std::iter::once(pixels(clip, frame, look, force_scale(clip))))
}

/// Frames as an animated PNG file.
///
/// # Errors
/// Too many frames, or what the encoder refuses.
pub fn animation(clip: &Clip, frames: &[usize], fps: f64, look: &Look) -> Result<Vec<u8>, String> {
    let n = frames.len();
    if n > MOST_FRAMES {
        return Err(format!(
            "{n} frames, at most {MOST_FRAMES} are drawn (--fps, --from, --to make them fewer)"
        ));
    }
    let per_newton = force_scale(clip);
    let images = frames.iter().map(|frame| pixels(clip, *frame, look, per_newton));
    encode(look.size, Some((n, fps)), images)
}

fn encode(
    [width, height]: [usize; 2],
    animated: Option<(usize, f64)>,
    images: impl Iterator<Item = Vec<u8>>,
) -> Result<Vec<u8>, String> {
    let mut bytes = vec![];
    let fault = |e: png::EncodingError| e.to_string();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    if let Some((frames, fps)) = animated {
        encoder.set_animated(frames as u32, 0).map_err(fault)?;
        let delay = (1000.0 / fps).round().clamp(1.0, 65535.0) as u16;
        encoder.set_frame_delay(delay, 1000).map_err(fault)?;
    }
    let mut writer = encoder.write_header().map_err(fault)?;
    for image in images {
        writer.write_image_data(&image).map_err(fault)?;
    }
    writer.finish().map_err(fault)?;
    Ok(bytes)
}

/// Length of a large arrow, m.
fn long_arrow(clip: &Clip) -> f64 {
    (1.3 * clip.scenery.size).min(0.5 * clip.scenery.radius)
}

/// Metres of an arrow per newton: by a large but not extreme force, the median of the largest force of each record.
fn force_scale(clip: &Clip) -> f64 {
    let stride = clip.len().div_ceil(200).max(1);
    let largest = |frame| arrows(clip, frame).iter().map(|a| length(a.force)).fold(0.0, f64::max);
    let mut forces: Vec<f64> = (0..clip.len()).step_by(stride).map(largest).filter(|f| *f > 0.0).collect();
    forces.sort_by(f64::total_cmp);
    let large = forces.get(forces.len() / 2).copied().unwrap_or(1.0);
    long_arrow(clip) / large
}

/// A force to be drawn.
struct Arrow {
    point: Vector,
    force: Vector,
    status: Status,
}

/// The force of every contact of a few elements, and the resultant of every patch at its centre of pressure.
fn arrows(clip: &Clip, frame: usize) -> Vec<Arrow> {
    let touches = clip.touches(frame);
    let mut list = vec![];
    for group in touches.chunk_by(|a, b| a.contact == b.contact) {
        let patch = clip.contacts[group[0].contact].spacing > 0.0;
        if group.len() <= MOST_ARROWS && !patch {
            list.extend(group.iter().map(|t| Arrow { point: t.point, force: t.force, status: t.status }));
            continue;
        }
        let normal = |t: &Touch| dot(t.force, t.normal);
        let total: f64 = group.iter().map(normal).sum();
        if total > 0.0 {
            let sum = |value: &dyn Fn(&Touch) -> Vector| group.iter().map(value).fold([0.0; 3], add);
            let closed = || group.iter().filter(|t| t.status != Status::Open);
            let slips = closed().all(|t| t.status == Status::Slip);
            list.push(Arrow {
                point: scale(1.0 / total, sum(&|t| scale(normal(t), t.point))),
                force: sum(&|t| t.force),
                status: if slips { Status::Slip } else { Status::Stick },
            });
        }
    }
    list
}

/// The picture of a frame, three bytes per pixel.
fn pixels(clip: &Clip, frame: usize, look: &Look, per_newton: f64) -> Vec<u8> {
    let scenery = &clip.scenery;
    let (background, ground, line) = match look.dark {
        true => (hex(0x18_1b20), hex(0x3a_4048), hex(0xcf_d5dc)),
        false => (hex(0xf4_f6f8), hex(0xdf_e3e8), hex(0x2b_3138)),
    };
    let camera = Camera::of(scenery, look.size);
    let mut canvas = Canvas::new(look.size.map(|n| n * SAMPLES), background, camera);
    for (k, owner) in scenery.owners.iter().enumerate() {
        let moves = k < scenery.bodies();
        let pose = if moves { clip.bodies(frame)[k].pose } else { Pose::IDENTITY };
        for part in &owner.parts {
            let local = Pose { position: part.position, attitude: Quaternion(part.attitude) };
            let half_space = part.shape == "half_space";
            let paint = Paint {
                color: if moves { hex(BODIES[k % BODIES.len()]) } else { ground },
                flat: scenery.planar,
                checks: (half_space && !scenery.planar).then_some(scenery.radius / 2.0),
                front: half_space && !scenery.planar,
                fade: half_space.then_some(background),
                layer: if moves { 0.0 } else { -1.0 },
            };
            let mesh = &scenery.meshes[part.mesh];
            canvas.mesh(mesh, &pose.then(&local), &paint);
            if !half_space || scenery.planar {
                canvas.lines(&mesh.lines, &pose.then(&local), line, if moves { 0.0 } else { -1.0 });
            }
        }
    }
    for ends in &scenery.springs {
        let points = ends.map(|e| e.owner.map_or(e.point, |o| clip.bodies(frame)[o].pose.point(e.point)));
        canvas.lines(&[points], &Pose::IDENTITY, hex(SPRING), 0.5);
    }
    if look.contacts {
        draw_contacts(clip, frame, per_newton, &mut canvas);
    }
    canvas.reduce(SAMPLES)
}

fn draw_contacts(clip: &Clip, frame: usize, per_newton: f64, canvas: &mut Canvas) {
    let size = clip.scenery.size;
    let paint = |status: Status| Paint {
        color: hex(match status {
            Status::Open => OPEN,
            Status::Stick => STICK,
            Status::Slip => SLIP,
        }),
        flat: clip.scenery.planar,
        checks: None,
        front: !clip.scenery.planar,
        fade: None,
        layer: 1.0,
    };
    let most = long_arrow(clip);
    let thin = size.min(0.8 * most);
    for arrow in arrows(clip, frame) {
        let paint = paint(arrow.status);
        canvas.mesh(&Mesh::ball(arrow.point, 0.05 * thin), &Pose::IDENTITY, &paint);
        let long = length(arrow.force) * per_newton;
        if long > 0.02 * most {
            // a blow does not cross the picture
            let long = long.min(3.0 * most);
            let mesh = arrow_mesh(arrow.point, scale(long, unit(arrow.force)), thin);
            canvas.mesh(&mesh, &Pose::IDENTITY, &paint);
        }
    }
}

/// A shaft and a head.
fn arrow_mesh(from: Vector, along: Vector, size: f64) -> Mesh {
    let (long, direction) = (length(along), unit(along));
    let head = (0.25 * size).min(0.5 * long);
    let neck = add(from, scale(long - head, direction));
    let mut mesh = Mesh::rod(from, neck, 0.03 * size);
    let mut tip = Mesh::rod(neck, add(neck, scale(head, direction)), 0.085 * size);
    // a rod whose far end shrinks to a point is a cone
    let axis = |v: Vector| dot(sub(v, neck), direction);
    for v in &mut tip.vertices {
        let share = 1.0 - axis(*v) / head;
        let center = add(neck, scale(axis(*v), direction));
        *v = add(center, scale(share, sub(*v, center)));
    }
    mesh.add(&tip);
    mesh
}
