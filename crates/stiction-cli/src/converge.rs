//! `stiction converge`: a scene with shorter and shorter steps.

use crate::args::Converge;
use crate::plot::axis::Axis;
use crate::plot::chart::{BOTTOM, COLOURS, LEFT, SMALL, TOP};
use crate::plot::drawing::{Anchor, Drawing};
use crate::plot::write_drawing;
use crate::shoot::axes;
use crate::{InputError, print, read_scene};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stiction::boundary::{Level, Study, converge_against};
use stiction::scene::Scheme;

pub fn run(arguments: &Converge) -> Result<ExitCode, InputError> {
    let Some(scene) = read_scene(&arguments.scene) else { return Ok(ExitCode::from(2)) };
    let thetas =
        if arguments.thetas.is_empty() { vec![scene.step.explicit_share] } else { arguments.thetas.clone() };
    if arguments.steps.len() < 2 {
        return Err(InputError("--steps: expected at least two step lengths".to_owned()));
    }
    for (name, bad) in [
        ("--steps", arguments.steps.iter().find(|h| **h > scene.step.duration)),
        ("--thetas", thetas.iter().find(|t| !(0.0..=1.0).contains(*t))),
    ] {
        if let Some(x) = bad {
            let expected = if name == "--steps" { "at most the duration" } else { "a share from 0 to 1" };
            return Err(InputError(format!("{name}: {x}, expected {expected}")));
        }
    }
    let reference = arguments.reference.as_deref().map(|name| match name {
        "event" => Scheme::Event,
        _ => Scheme::Compliant,
    });
    let study = match converge_against(&scene, &arguments.steps, &thetas, reference) {
        Ok(study) => study,
        Err(why) if arguments.json => {
            print(&format!("{}\n", json!({ "status": "failed", "cause": why })))?;
            return Ok(ExitCode::from(1));
        }
        Err(why) => {
            print(&format!("failed: {why}\n"))?;
            return Ok(ExitCode::from(1));
        }
    };
    let path =
        arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}-convergence.svg", scene.name)));
    let drawing = draw(&study, &scene.name);
    write_drawing(&path, &drawing)?;
    print(&if arguments.json {
        to_json(&study, arguments, &path)
    } else {
        to_text(&study, arguments, &path)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn to_json(study: &Study, arguments: &Converge, figure: &Path) -> String {
    let level = |l: &Level| {
        let w = &l.weak;
        json!({
            "theta": l.theta, "h": l.h, "residual": number(l.residual),
            "errors": l.errors.map(|e| json!({
                "position": number(e.position), "velocity": number(e.velocity), "impulse": number(e.impulse) })),
            "weak_solution": {
                "dynamics": number(w.dynamics), "kinematics": number(w.kinematics),
                "deformation": number(w.deformation), "penetration": number(w.penetration),
                "complementarity": number(w.complementarity), "friction": number(w.friction) },
            "bounds": {
                "growth": number(w.growth), "state_over_bound": number(w.state_bound),
                "force": number(w.force), "force_ratio": number(w.force_ratio) },
        })
    };
    let orders = |(theta, o): &(f64, [f64; 3])| json!({ "theta": theta, "position": number(o[0]), "velocity": number(o[1]), "impulse": number(o[2]) });
    let object = json!({
        "status": "finished",
        "levels": study.levels.iter().map(level).collect::<Vec<_>>(),
        "orders": study.orders.iter().map(orders).collect::<Vec<_>>(),
        "reference": arguments.reference.as_deref().unwrap_or("finest"),
        "figure": figure.display().to_string(),
    });
    format!("{object}\n")
}

fn to_text(study: &Study, arguments: &Converge, figure: &Path) -> String {
    let mut text = String::new();
    let against = format!("errors against {}", arguments.reference.as_deref().unwrap_or("the finest"));
    // writing to a String cannot fail
    let _ = writeln!(
        text,
        "theta  h, s       {against:32} weak solution (pang2005 Definition 2)                                bounds\n\
         \u{20}                 q          v          impulse    (a) v      (a) q      (a) delta  penetr., m (b)        (c) J      psi_x, 1/s max force, N"
    );
    for l in &study.levels {
        let e =
            |x: Option<f64>| x.filter(|x| !x.is_nan()).map_or_else(|| "-".to_owned(), |x| format!("{x:.3e}"));
        let w = &l.weak;
        let _ = writeln!(
            text,
            "{:<6} {:<10.3e} {:<10} {:<10} {:<10} {:<10.3e} {:<10.3e} {:<10.3e} {:<10.3e} {:<10.3e} {:<10.3e} {:<10.3e} {:.4e}",
            l.theta,
            l.h,
            e(l.errors.map(|e| e.position)),
            e(l.errors.map(|e| e.velocity)),
            e(l.errors.map(|e| e.impulse)),
            w.dynamics,
            w.kinematics,
            w.deformation,
            w.penetration,
            w.complementarity,
            w.friction,
            w.growth,
            w.force
        );
    }
    for (theta, [q, v, p]) in &study.orders {
        let _ = writeln!(text, "theta {theta}: order {q:.2} in q, {v:.2} in v, {p:.2} in impulse");
    }
    let worst = study.levels.iter().map(|l| l.weak.state_bound).fold(0.0, f64::max);
    let _ = writeln!(text, "bound (25): states reach at most {worst:.2} of it");
    let _ = writeln!(text, "figure {}", figure.display());
    text
}

/// Errors over step lengths, both logarithmic.
fn draw(study: &Study, title: &str) -> Drawing {
    let (width, height) = (560.0, 360.0);
    let names = ["q", "v", "impulse"];
    let mut lines: Vec<(String, Vec<[f64; 2]>)> = vec![];
    for (theta, _) in &study.orders {
        for (k, name) in names.iter().enumerate() {
            let points = study.levels.iter().filter(|l| l.theta == *theta).filter_map(|l| {
                let e = l.errors?;
                let value = [e.position, e.velocity, e.impulse][k];
                (value > 0.0).then(|| [l.h.log10(), value.log10()])
            });
            lines.push((format!("{name}, theta {theta}"), points.collect()));
        }
    }
    let all = || lines.iter().flat_map(|(_, p)| p);
    let span = |k: usize| {
        let (low, high) =
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p[k]), h.max(p[k])));
        if low <= high { [low.floor(), high.ceil().max(low.floor() + 1.0)] } else { [-1.0, 0.0] }
    };
    let (x, y) = (Axis::new(span(0), "", 6.0), Axis::new(span(1), "", 6.0));
    let mut drawing = Drawing::new(LEFT + width + 170.0, TOP + height + BOTTOM);
    let frame = [LEFT, TOP, width, height];
    axes(&mut drawing, frame, (&x, "log10 h, s"), (&y, "log10 error"), title);
    for (k, (name, points)) in lines.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let place = |p: &[f64; 2]| [LEFT + width * x.share(p[0]), TOP + height * (1.0 - y.share(p[1]))];
        let run: Vec<[f64; 2]> = points.iter().map(place).collect();
        for [a, b] in &run {
            drawing.rect([a - 2.5, b - 2.5, 5.0, 5.0], colour);
        }
        drawing.path(&[run], colour, &[]);
        let at = TOP + 14.0 + 18.0 * k as f64;
        drawing.rect([LEFT + width + 14.0, at - 8.0, 10.0, 10.0], colour);
        drawing.text([LEFT + width + 30.0, at], SMALL, Anchor::Start, name);
    }
    drawing.frame(frame);
    drawing
}
