//! Contact forces over time, by element and by pair.

use super::Undrawn;
use super::chart::{Chart, Line, Panel};
use super::data::{Source, contact_names, group, natural, pair, wanted};
use super::legend::{Legend, title};
use crate::InputError;
use std::collections::HashMap;
use stiction::record::Rows;
use stiction::scene::Table;

/// Elements beyond which lines cannot be told apart.
const MOST_ELEMENTS: usize = 24;

/// Contact and element.
type Key = (String, i64);

/// The elements of a recording.
struct Elements {
    rows: Rows,
    /// Rows of each.
    tracks: Vec<(Key, Vec<usize>)>,
    /// Times of all records.
    times: Vec<f64>,
}

impl Elements {
    fn read(source: &Source, contacts: &[String]) -> Result<Self, InputError> {
        let rows = source.read(Table::Contacts)?;
        let (names, time): (Vec<&str>, _) = (rows.words("contact").collect(), rows.numbers("time"));
        let element = rows.counts("element");
        let of = |k: usize| {
            (source.shows(time[k]) && wanted(contacts, names[k])).then_some((names[k], element[k]))
        };
        let mut tracks = group(rows.len(), of);
        tracks.sort_by(|a, b| natural(&a.0.0, &b.0.0).then(a.0.1.cmp(&b.0.1)));
        let times = source.times(&rows)?;
        Ok(Self { rows, tracks, times })
    }

    /// Values of a track; where records lie between two of them, the line breaks.
    fn points(&self, track: &[usize], value: impl Fn(usize) -> f64) -> Vec<[f64; 2]> {
        let time = self.rows.numbers("time");
        let mut points: Vec<[f64; 2]> = vec![];
        let mut before = None;
        for &k in track {
            let at = self.times.partition_point(|t| *t < time[k]);
            if before.is_some_and(|b| at > b + 1) {
                points.push([time[k], f64::NAN]);
            }
            before = Some(at);
            points.push([time[k], value(k)]);
        }
        points
    }

    fn force(&self, k: usize) -> [f64; 3] {
        ["force_n", "force_t", "force_o"].map(|c| self.rows.numbers(c)[k])
    }

    /// Whether a soft layer was compressed to its core: some, but not all, of a normal force is the core's.
    fn meets_core(&self) -> bool {
        let (core, whole) = (self.rows.numbers("core_n"), self.rows.numbers("force_n"));
        let compression = self.rows.numbers("deformation_n");
        core.len() == whole.len() && (0..core.len()).any(|k| core[k] > 0.0 && compression[k] > 0.0)
    }

    fn planar(&self) -> bool {
        self.rows.numbers("force_o").iter().all(|f| *f == 0.0)
    }
}

fn read(sources: &[Source], contacts: &[String]) -> Result<Vec<Elements>, InputError> {
    sources.iter().map(|s| Elements::read(s, contacts)).collect()
}

/// What of a force a panel shows: its name, its unit, the value.
type Shown = (&'static str, &'static str, fn([f64; 3]) -> f64);

fn shown(planar: bool) -> Vec<Shown> {
    let normal: Shown = ("normal force", "N", |f| f[0]);
    if planar {
        return vec![normal, ("friction", "N", |f| f[1])];
    }
    vec![normal, ("friction t", "N", |f| f[1]), ("friction o", "N", |f| f[2])]
}

/// Forces of every element: normal, friction, and their ratio; where layers are compressed to their cores also the cores' share and the compression.
pub fn by_element(sources: &[Source], contacts: &[String]) -> Result<Chart, Undrawn> {
    let read = read(sources, contacts)?;
    let planar = read.iter().all(Elements::planar);
    let mut panels = shown(planar);
    // without a normal force there is no ratio
    panels.push(if planar {
        ("friction / normal", "", |[n, t, _]| if n > 0.0 { t / n } else { f64::NAN })
    } else {
        ("|friction| / normal", "", |[n, t, o]| if n > 0.0 { t.hypot(o) / n } else { f64::NAN })
    });
    let value = |value: fn([f64; 3]) -> f64| move |elements: &Elements, k: usize| value(elements.force(k));
    let panels = panels.into_iter().map(|(what, unit, of)| (what, unit, value(of))).collect();
    chart((sources, &read), "forces", "forces on the second body, by element", panels)
}

/// Where every element touches, in world axes.
pub fn points(sources: &[Source], contacts: &[String]) -> Result<Chart, Undrawn> {
    let read = read(sources, contacts)?;
    let planar = read.iter().all(|e| e.rows.numbers("pz").iter().all(|z| *z == 0.0));
    let columns = [("point x", "px"), ("point y", "py"), ("point z", "pz")];
    let of = |column: &'static str| move |elements: &Elements, k: usize| elements.rows.numbers(column)[k];
    let shown = if planar { &columns[..2] } else { &columns[..] };
    let panels = shown.iter().map(|(what, column)| (*what, "m", of(column))).collect();
    chart((sources, &read), "points", "points of contact, by element", panels)
}

/// A chart with a line for every element in every panel: their name, unit and value.
fn chart<V: Fn(&Elements, usize) -> f64>(
    (sources, read): (&[Source], &[Elements]),
    figure: &str,
    words: &str,
    panels: Vec<(&'static str, &'static str, V)>,
) -> Result<Chart, Undrawn> {
    let keys: Vec<&Key> = read.iter().flat_map(|e| e.tracks.iter().map(|t| &t.0)).collect();
    let one_contact = keys.windows(2).all(|w| w[0].0 == w[1].0);
    let one_element = keys.iter().all(|k| k.1 == 0);
    let names = contact_names(keys.iter().map(|k| k.0.as_str()));
    let name = |(contact, element): &Key| match (one_contact, one_element) {
        (_, true) => names[contact].clone(),
        (true, false) => format!("element {element}"),
        (false, false) => format!("{}, element {element}", names[contact]),
    };
    let legend = Legend::new(sources, keys.iter().map(|k| name(k)));
    if legend.names.len() > MOST_ELEMENTS {
        return Err(Undrawn::TooMany(format!(
            "{figure}: {} elements are too many for lines, at most {MOST_ELEMENTS} (--contact chooses; --what \
             totals,status,patch shows them all)",
            legend.names.len()
        )));
    }
    let panels = panels.into_iter().map(|(what, unit, value)| {
        let mut lines = vec![];
        for (s, elements) in read.iter().enumerate() {
            for (key, track) in &elements.tracks {
                let points = elements.points(track, |k| value(elements, k));
                lines.push(Line { style: legend.style(s, &name(key)), points });
            }
        }
        Panel { what: what.to_owned(), unit, lines }
    });
    let mut panels: Vec<Panel> = panels.collect();
    if figure == "forces" && read.iter().any(Elements::meets_core) {
        let column = |what: &str, unit, column: &str| {
            let lines = read.iter().enumerate().flat_map(|(s, elements)| {
                let values = elements.rows.numbers(column);
                elements
                    .tracks
                    .iter()
                    .filter(|_| !values.is_empty())
                    .map(move |(key, track)| (s, elements, key, track))
            });
            let lines = lines.map(|(s, elements, key, track)| {
                let values = elements.rows.numbers(column);
                Line { style: legend.style(s, &name(key)), points: elements.points(track, |k| values[k]) }
            });
            Panel { what: what.to_owned(), unit, lines: lines.collect() }
        };
        panels.insert(1, column("of it the core's", "N", "core_n"));
        panels.push(column("compression", "m", "deformation_n"));
    }
    Ok(Chart { title: title(sources, words), panels })
}

/// Forces of a pair at all records.
struct Sum {
    source: usize,
    pair: String,
    forces: Vec<(f64, [f64; 3])>,
}

/// Forces of every pair in contact: sums over features and elements; none where nothing touches.
pub fn by_pair(sources: &[Source], contacts: &[String]) -> Result<Chart, InputError> {
    let read = read(sources, contacts)?;
    let mut sums: Vec<Sum> = vec![];
    for (source, elements) in read.iter().enumerate() {
        let time = elements.rows.numbers("time");
        // nothing is known of contacts at the start of a run
        let known = elements.tracks.iter().flat_map(|t| &t.1).map(|k| time[*k]);
        let first = known.fold(f64::INFINITY, f64::min);
        let times: Vec<f64> = elements.times.iter().copied().filter(|t| *t >= first).collect();
        let place: HashMap<u64, usize> = times.iter().enumerate().map(|(i, t)| (t.to_bits(), i)).collect();
        for ((contact, _), track) in &elements.tracks {
            let pair = pair(contact);
            let known = sums.iter().position(|s| s.source == source && s.pair == pair);
            let at = known.unwrap_or_else(|| {
                let forces = times.iter().map(|t| (*t, [0.0; 3])).collect();
                sums.push(Sum { source, pair: pair.to_owned(), forces });
                sums.len() - 1
            });
            for &k in track {
                let force = elements.force(k);
                if let Some((_, sum)) = place.get(&time[k].to_bits()).map(|i| &mut sums[at].forces[*i]) {
                    sum.iter_mut().zip(force).for_each(|(sum, f)| *sum += f);
                }
            }
        }
    }
    let legend = Legend::new(sources, sums.iter().map(|s| s.pair.clone()));
    let panels = shown(read.iter().all(Elements::planar)).into_iter().map(|(what, unit, value)| {
        let line = |sum: &Sum| Line {
            style: legend.style(sum.source, &sum.pair),
            points: sum.forces.iter().map(|(t, f)| [*t, value(*f)]).collect(),
        };
        Panel { what: what.to_owned(), unit, lines: sums.iter().map(line).collect() }
    });
    let panels = panels.collect();
    Ok(Chart { title: title(sources, "forces on the second body, by contact"), panels })
}
