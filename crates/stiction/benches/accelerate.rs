//! Time of the acceleration problem at an instant with 10, 50 and 200 contacts.
//!
//! `cargo bench -p stiction --bench accelerate`. Balls in a row on the ground: those that rest (each with one contact, pushed together), and
//! those of which every other one slides. Pyramid and cone, without the conditions; the fastest of several calls.
#![allow(missing_docs)]

use std::time::Instant;
use stiction::analysis::accelerate::{Question, accelerate};
use stiction::model::Model;

/// Calls, of which the fastest counts, and how long they may take together, s.
const CALLS: usize = 20;
const LONGEST: f64 = 10.0;

fn main() {
    println!(
        "{:10} {:>8} {:>6} {:>12} {:>12} {:>10} {:>10}",
        "", "contacts", "slip", "pyramid ms", "both ms", "residual", "status"
    );
    for contacts in [10_usize, 50, 200] {
        for slides in [false, true] {
            // n balls in a row that touch have n contacts with the ground and n - 1 with each other
            let count = contacts.div_ceil(2);
            let text = format!(
                "[[material]]\nname = 'default'\nfriction = 0.4\n[[world]]\nname = 'ground'\nshape = 'half_space'\n\
                 [[body]]\nrepeat = {{ i = {count} }}\nname = 'ball{{i}}'\nmass = '= 1 + 0.3 * sin(i)'\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\
                 position = ['= 0.2 * i', 0, 0.1]\nvelocity = [0, '= {} * (i % 2)', 0]\n\
                 [[load]]\nbody = 'ball0'\nforce = {{ constant = [20, 1, 0] }}\n\
                 [[load]]\nbody = 'ball{}'\nforce = {{ constant = [-20, 0.5, 0] }}\n",
                f64::from(u8::from(slides)),
                count - 1
            );
            let scene = stiction::from_toml("balls", &text).expect("a valid scene");
            let model = Model::new(&scene).expect("a valid model");
            let state = model.initial();
            let time = |cone: bool| {
                let question = Question { cone, conditions: false, ..Question::default() };
                let (mut best, begin, mut last) = (f64::INFINITY, Instant::now(), None);
                for _ in 0..CALLS {
                    let start = Instant::now();
                    last = Some(accelerate(&model, &state, &question).expect("an instant"));
                    best = best.min(start.elapsed().as_secs_f64());
                    if begin.elapsed().as_secs_f64() > LONGEST {
                        break;
                    }
                }
                (best, last.expect("one call at least"))
            };
            let ((pyramid, answer), (both, _)) = (time(false), time(true));
            let residual = answer.pyramid.list.iter().map(|p| p.residual.relative).fold(0.0, f64::max);
            println!(
                "{:10} {:8} {:6} {:12.3} {:12.3} {:10.1e} {:>10}",
                if slides { "sliding" } else { "resting" },
                answer.contacts.len(),
                answer.contacts.iter().filter(|c| c.slips).count(),
                1e3 * pyramid,
                1e3 * both,
                residual,
                answer.status().to_string()
            );
        }
    }
}
