//! What was found, as text and as one JSON object.

use super::Found;
use serde_json::{Value, json};
use std::fmt::Write;
use stiction::analysis::stability::{Branch, Cluster, Dependence, Finite, Verdict};
use stiction::model::Model;
use stiction::run::Ended;
use stiction::run::timeline::{Episode, Moment};
use stiction::step::Status;

/// Lines of clusters, solutions and episodes that are printed.
const SHOWN: usize = 20;

pub fn text(found: &Found) -> String {
    let mut out = String::new();
    for warning in &found.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    match (found.instant, &found.timeline.moments[..]) {
        (true, [moment]) => instant(&mut out, found, moment),
        _ => along(&mut out, found),
    }
    out
}

fn instant(out: &mut String, found: &Found, moment: &Moment) {
    let (model, Ok(analysis)) = (&found.model, &moment.found) else { return };
    let contacts: usize = analysis.clusters.iter().map(|c| c.contacts.len()).sum();
    let _ = writeln!(
        out,
        "{} at t = {} s: {} in {}",
        model.scene().name,
        moment.time,
        counted(contacts, "contact"),
        counted(analysis.clusters.len(), "cluster"),
    );
    if analysis.clusters.is_empty() {
        let _ = writeln!(out, "Nothing touches: the rigid model may be used.");
    }
    for (k, cluster) in analysis.clusters.iter().enumerate() {
        if k >= SHOWN / 2 {
            let more = analysis.clusters.len() - k;
            let _ = writeln!(out, "... {} more (--json lists them all)", counted(more, "cluster"));
            break;
        }
        let complete = if cluster.complete || cluster.proved_none { "" } else { " found, not all" };
        let _ = writeln!(
            out,
            "{}: {}{complete}, {}, margin {}",
            cluster.name(model),
            counted(cluster.branches.len(), "solution"),
            cluster.trust.name(),
            number(cluster.margin.value)
        );
        for (k, branch) in cluster.branches.iter().enumerate().take(SHOWN / 2) {
            let _ = writeln!(out, "  {}  {}", k + 1, line(cluster, branch, model));
        }
        if cluster.branches.len() > SHOWN / 2 {
            let _ = writeln!(out, "  ... {} more", cluster.branches.len() - SHOWN / 2);
        }
        for sentence in cluster.words(model) {
            let _ = writeln!(out, "  {sentence}");
        }
        let _ = writeln!(out, "  prefer: {}", cluster.preferred.name());
    }
    layer_line(out, found);
}

/// The stated layer, where a solution has it.
fn layer_line(out: &mut String, found: &Found) {
    let analyses = found.timeline.moments.iter().filter_map(|m| m.found.as_ref().ok());
    let mut branches = analyses.flat_map(|a| &a.clusters).flat_map(|c| &c.branches);
    let stated = |b: &Branch| {
        let deforms = b.layer.as_ref().is_some_and(|l| !l.eigenvalues.is_empty());
        deforms && b.depends != Some(Dependence::Given)
    };
    if !branches.any(stated) {
        return;
    }
    let _ = writeln!(
        out,
        "layer of rigid contacts: K = m / (eps T^2), C = 2 zeta m / (sqrt(eps) T), T = 1 s, eps = {:e}, zeta = {}",
        found.layer.eps, found.layer.damping_ratio
    );
}

/// A solution in a line.
fn line(cluster: &Cluster, branch: &Branch, model: &Model) -> String {
    let mut line = format!("{:14} {:9}", branch.kind(), verdict(branch.verdict()));
    if let Some(layer) = &branch.layer
        && let Some(time) = layer.time_constant()
    {
        let _ = match layer.verdict {
            Verdict::Unstable => write!(line, " grows by e in {} s;", number(time)),
            Verdict::Stable => write!(line, " decays by e in {} s;", number(time)),
            Verdict::Marginal => write!(line, " neither decays nor grows;"),
        };
    }
    let forces = cluster.contacts.iter().zip(&branch.contacts).filter(|(_, c)| c.status != Status::Open);
    let shown: Vec<String> = forces
        .take(3)
        .map(|(at, c)| {
            format!(
                "{} {} {} N",
                model.contact_name(at.id).unwrap_or_default(),
                status(c.status),
                number(c.force[0])
            )
        })
        .collect();
    let _ = match (shown.is_empty(), branch.contacts.len()) {
        (true, _) => write!(line, " no contact carries force"),
        (false, n) if n > 3 => write!(line, " {}, ...", shown.join(", ")),
        (false, _) => write!(line, " {}", shown.join(", ")),
    };
    if branch.dimension > 0 {
        let _ = write!(line, "; a continuum of dimension {}", branch.dimension);
    }
    if branch.transition {
        line.push_str("; begins here");
    }
    line
}

fn along(out: &mut String, found: &Found) {
    let (moments, model) = (&found.timeline.moments, &found.model);
    let ends = [moments.first(), moments.last()].map(|m| m.map_or(0.0, |m| m.time));
    let _ = writeln!(
        out,
        "{}: {} from {} s to {} s",
        model.scene().name,
        counted(moments.len(), "instant"),
        number(ends[0]),
        number(ends[1])
    );
    if let Ended::Failed(why) = &found.ended {
        let _ = writeln!(out, "the run failed: {why}");
    }
    let episodes = found.timeline.episodes(model);
    for episode in episodes.iter().take(SHOWN) {
        let _ = writeln!(out, "{}", episode_line(episode));
    }
    if episodes.len() > SHOWN {
        let _ = writeln!(
            out,
            "... {} more (--json lists them all, --figure draws them)",
            counted(episodes.len() - SHOWN, "episode")
        );
    }
    if episodes.is_empty() {
        let _ = writeln!(out, "Nothing touches at any of them: the rigid model may be used.");
    }
    let refused: Vec<&Moment> = moments.iter().filter(|m| m.found.is_err()).collect();
    if let Some((first, why)) = refused.first().and_then(|m| Some((m.time, m.found.as_ref().err()?))) {
        let _ = writeln!(
            out,
            "{} not examined, the first at {} s: {why}",
            counted(refused.len(), "instant"),
            number(first)
        );
    }
    let worst = episodes.iter().map(|e| e.preferred).max();
    if let Some(worst) = worst {
        let _ = writeln!(out, "prefer: {}", worst.name());
    }
    layer_line(out, found);
}

fn episode_line(e: &Episode) -> String {
    if e.count == 0 {
        let words = "no finite forces allow the slip, an impact without a collision stops it";
        return format!("at {:19} s  {}: {words}: {}", number(e.span[0]), e.name, e.preferred.name());
    }
    let solutions: Vec<String> =
        e.solutions.iter().map(|(kind, v)| format!("{kind} ({})", verdict(*v))).collect();
    let solutions = match solutions.len() {
        0 => "no solution".to_owned(),
        n if n > 4 => format!("{}, ...", solutions[..4].join(", ")),
        _ => solutions.join(", "),
    };
    let jam = if e.bounded { "" } else { ", song2004 (20) fails or is not decided" };
    format!(
        "{:9} to {:9} s  {}: {solutions}, {}, margin {}{jam}: {}",
        number(e.span[0]),
        number(e.span[1]),
        e.name,
        e.trust.name(),
        number(e.margin),
        e.preferred.name()
    )
}

fn verdict(v: Option<Verdict>) -> &'static str {
    v.map_or("unknown", Verdict::name)
}

fn status(s: Status) -> &'static str {
    match s {
        Status::Open => "open",
        Status::Stick => "stick",
        Status::Slip => "slip",
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn number(x: f64) -> String {
    match x {
        x if x.is_infinite() => "infinity".to_owned(),
        0.0 => "0".to_owned(),
        x if (1e-3..1e5).contains(&x.abs()) => {
            let text = format!("{x:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        x => format!("{x:.3e}"),
    }
}

fn finite(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

pub fn json(found: &Found) -> String {
    let model = &found.model;
    let moments: Vec<Value> = found.timeline.moments.iter().map(|m| moment(m, model)).collect();
    let episodes = found.timeline.episodes(model);
    let list: Vec<Value> = episodes
        .iter()
        .map(|e| {
            let solutions: Vec<Value> = e
                .solutions
                .iter()
                .map(|(kind, v)| json!({ "kind": kind, "stability": v.map(Verdict::name) }))
                .collect();
            json!({
                "cluster": e.name, "from": e.span[0], "to": e.span[1], "instants": e.count, "solutions": solutions,
                "complete": e.complete, "trust": e.trust.name(), "preferred": e.preferred.name(), "margin": finite(e.margin),
                "condition_20": e.bounded,
            })
        })
        .collect();
    let preferred = episodes.iter().map(|e| e.preferred).max();
    let object = json!({
        "status": match found.ended {
            Ended::Finished => "finished",
            Ended::Interrupted => "interrupted",
            Ended::Failed(_) => "failed",
        },
        "scene": model.scene().name,
        "layer": { "eps": found.layer.eps, "damping_ratio": found.layer.damping_ratio },
        "preferred": preferred.map_or("rigid", |p| p.name()),
        "episodes": list,
        "instants": moments,
        "warnings": found.warnings,
    });
    format!("{object}\n")
}

fn moment(m: &Moment, model: &Model) -> Value {
    match &m.found {
        Err(why) => json!({ "time": m.time, "cause": why, "clusters": [] }),
        Ok(analysis) => {
            let outlook = analysis.outlook();
            let clusters: Vec<Value> = analysis.clusters.iter().map(|c| cluster(c, model)).collect();
            json!({
                "time": m.time, "unique": outlook.unique, "stable": outlook.stable, "margin": finite(outlook.margin),
                "preferred": analysis.preferred().name(), "clusters": clusters,
            })
        }
    }
}

fn cluster(c: &Cluster, model: &Model) -> Value {
    let name = |k: &usize| c.contacts.get(*k).and_then(|at| model.contact_name(at.id));
    let branches: Vec<Value> = c.branches.iter().map(|b| branch(c, b, model)).collect();
    json!({
        "name": c.name(model),
        "contacts": (0..c.contacts.len()).map(|k| name(&k)).collect::<Vec<_>>(),
        "status": c.status.to_string(),
        "complete": c.complete,
        "trust": c.trust.name(),
        "preferred": c.preferred.name(),
        "margin": {
            "value": finite(c.margin.value), "contacts": c.margin.contacts.iter().map(name).collect::<Vec<_>>(),
            "complete": c.margin.complete },
        "condition_20": c.wedged.as_ref().map(Vec::is_empty),
        "wedged": c.wedged.as_ref().map(|list| list.iter().map(name).collect::<Vec<_>>()),
        "finite": match c.finite { Finite::Yes => Some(true), Finite::No => Some(false), Finite::Unknown => None },
        "solutions": branches,
        "words": c.words(model),
        "reason": c.reason,
    })
}

fn branch(c: &Cluster, b: &Branch, model: &Model) -> Value {
    let contacts: Vec<Value> = c
        .contacts
        .iter()
        .zip(&b.contacts)
        .map(|(at, x)| {
            json!({
                "name": model.contact_name(at.id), "status": status(x.status), "force": x.force, "acceleration": x.acceleration,
            })
        })
        .collect();
    let layer = b.layer.as_ref();
    let eigenvalues: Vec<[f64; 2]> =
        layer.map_or(vec![], |l| l.eigenvalues.iter().map(|e| e.map(|x| x / l.unit)).collect());
    json!({
        "kind": b.kind(),
        "stability": b.verdict().map(Verdict::name),
        "eigenvalues": eigenvalues,
        "layer_time": layer.filter(|l| !l.eigenvalues.is_empty()).map(|l| l.unit),
        "time_constant": layer.and_then(|l| l.time_constant()).map(finite),
        "depends_on_layer": b.depends.map(|d| matches!(d, Dependence::Varies { .. })),
        "layers": match b.depends {
            Some(Dependence::Given) => json!("given"),
            Some(Dependence::Proved) => json!("proved"),
            Some(Dependence::Tried(of)) => json!({ "tried": of }),
            Some(Dependence::Varies { stable, of }) => json!({ "tried": of, "stable": stable }),
            None => Value::Null,
        },
        "transition": b.transition,
        "motion": b.motion,
        "dimension": b.dimension,
        "residual": finite(b.residual),
        "contacts": contacts,
    })
}
