//! Recordings as files: formats, crashes, interrupts, and going on from where a run ended.

use crate::program;

use program::{SLIDING, call, done, program, refused, scratch as scratch_in};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use stiction::record::{Recording, Rows};
use stiction::scene::Table;

fn scratch(name: &str) -> PathBuf {
    let folder = scratch_in("recording", name);
    fs::write(folder.join("slide.toml"), SLIDING).unwrap();
    folder
}

/// Names in a folder, hidden ones too.
fn files(folder: &Path) -> Vec<String> {
    let name = |e: std::io::Result<fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
    let mut list: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    list.sort();
    list
}

fn read(folder: &Path, table: Table) -> Rows {
    Recording::open(folder).unwrap().read(table).unwrap()
}

/// Tables of scenes without joints, and of version 0.1.0.
const FIRST: [Table; 4] = [Table::Bodies, Table::Contacts, Table::Steps, Table::Events];

fn scene(name: &str) -> String {
    format!("{}/../../scenes/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn parquet_holds_what_csv_holds_bit_by_bit() {
    let folder = scratch("formats");
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "a"], 0);
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "b", "--csv"], 0);
    for (table, rows) in [(Table::Bodies, 11), (Table::Contacts, 10), (Table::Steps, 11), (Table::Events, 3)]
    {
        let (a, b) = (read(&folder.join("a"), table), read(&folder.join("b"), table));
        assert_eq!(a.len(), rows, "{table:?}");
        assert_eq!(a, b);
    }
    assert_eq!(
        fs::read(folder.join("a/state.json")).unwrap(),
        fs::read(folder.join("b/state.json")).unwrap()
    );
    // one file a table, and nothing else
    for (name, ending) in [("a", "parquet"), ("b", "csv")] {
        let tables = ["bodies", "contacts", "events"].map(|t| format!("{t}.{ending}"));
        let rest = ["recording.json", "scene.toml", "state.json"].map(str::to_owned).to_vec();
        let rest = [rest, vec![format!("steps.{ending}")]].concat();
        assert_eq!(files(&folder.join(name)), [tables.to_vec(), rest].concat());
    }
    // another format takes the place of the first
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "a", "--csv", "--force"], 0);
    assert_eq!(files(&folder.join("a")), files(&folder.join("b")));
}

#[test]
fn export_goes_there_and_back() {
    let folder = scratch("export");
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "a.recording"], 0);
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "b", "--csv"], 0);
    assert_eq!(done(&folder, &["export", "a.recording"], 0), "recording a.csv.recording\n");
    done(&folder, &["export", "a.csv.recording", "--format", "parquet", "--out", "c"], 0);
    for name in ["bodies.csv", "contacts.csv", "steps.csv", "events.csv", "scene.toml", "state.json"] {
        let same = |f: &str| fs::read_to_string(folder.join(f).join(name)).unwrap();
        assert_eq!(same("a.csv.recording"), same("b"), "{name}");
    }
    for table in FIRST {
        assert_eq!(read(&folder.join("c"), table), read(&folder.join("a.recording"), table));
    }
    assert!(refused(&folder, &["export", "a.recording"]).contains("there is a recording already (--force"));
    done(&folder, &["export", "a.recording", "--force"], 0);
    refused(&folder, &["export", "b", "--out", "b", "--force"]);
    // from within: not a hidden folder in the recording
    done(&folder.join("a.recording"), &["export", ".", "--force"], 0);
    assert!(!folder.join("a.recording/.csv.recording").exists());
    assert!(folder.join("b/bodies.csv").is_file());
}

#[test]
fn what_is_no_recording_is_told() {
    let folder = scratch("wrong");
    assert!(refused(&folder, &["export", "none"]).starts_with("error: none: "));
    fs::create_dir(folder.join("empty")).unwrap();
    assert!(refused(&folder, &["export", "empty"]).contains("empty: no recording"));
    fs::write(folder.join("empty/bodies.csv"), "time,x\n1,2\n").unwrap();
    assert!(refused(&folder, &["export", "empty", "--out", "o"]).contains("bodies.csv: line 1: expected"));
    fs::remove_file(folder.join("empty/bodies.csv")).unwrap();
    fs::write(folder.join("empty/bodies.parquet"), "PAR1 but no more PAR1").unwrap();
    let said = refused(&folder, &["export", "empty", "--out", "p"]);
    assert!(said.contains("bodies.parquet: "), "{said}");
}

/// Time of the last state, s.
fn time(folder: &Path) -> f64 {
    let state = fs::read_to_string(folder.join("state.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&state).unwrap()["time"].as_f64().unwrap()
}

/// A run without end, once it has sealed its tables.
fn endless(folder: &Path, arguments: &[&str]) -> Child {
    let mut arguments = [&["run", "slide.toml", "--out", "a", "--duration", "1e7"], arguments].concat();
    arguments.push("--json");
    let mut child =
        program(folder, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !folder.join("a/state.json").is_file() {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn what_was_recorded_before_a_kill_is_readable_and_the_run_can_go_on() {
    for format in [&["--quiet"][..], &["--csv"]] {
        let folder = scratch("kill");
        let mut child = endless(&folder, format);
        child.kill().unwrap();
        child.wait().unwrap();
        let out = folder.join("a");
        let bodies = read(&out, Table::Bodies);
        let last = *bodies.numbers("time").last().unwrap();
        assert!(last > 0.1 && bodies.len() > 10, "{last}");
        assert!((last - 0.02 * (bodies.len() - 1) as f64).abs() < 0.02, "every record until then: {last}");
        // tables that are full are written one by one, so that one may end earlier than another; but none has a hole
        let contacts = read(&out, Table::Contacts);
        let times = contacts.numbers("time");
        assert!(times.len() > 10 && times[0] < 0.2, "{}", times.len());
        assert!(times.windows(2).all(|t| (t[1] - t[0] - 0.02).abs() < 1e-6));
        assert_eq!(read(&out, Table::Events).len(), 3);
        assert!(read(&out, Table::Steps).words("status").all(|s| s == "start" || s == "solved"));
        let end = (time(&out) + 0.5).to_string();
        done(
            &folder,
            &["run", "slide.toml", "--resume", "a", "--duration", &end, "--out", "b", "--quiet"],
            0,
        );
    }
}

/// A kill may leave tables that reach further than the state: they are read, drawn and exported up to the state.
#[test]
fn rows_later_than_the_state_are_left_out() {
    for format in [&["--quiet"][..], &["--csv", "--quiet"]] {
        let folder = scratch("later");
        for (out, end) in [("a", "1"), ("b", "0.5")] {
            done(&folder, &[&["run", "slide.toml", "--duration", end, "--out", out], format].concat(), 0);
        }
        let [a, b] = ["a", "b"].map(|name| folder.join(name));
        let all = read(&a, Table::Bodies).len();
        fs::copy(b.join("state.json"), a.join("state.json")).unwrap();
        done(&folder, &["export", "a", "--out", "c"], 0);
        for table in [Table::Bodies, Table::Contacts, Table::Steps, Table::Events] {
            let kept = read(&b, table);
            for other in [&a, &folder.join("c")] {
                assert_eq!(
                    read(other, table).numbers("time"),
                    kept.numbers("time"),
                    "{table:?} of {other:?}"
                );
            }
        }
        assert!(read(&a, Table::Bodies).len() < all);
    }
}

#[test]
fn a_recording_without_tables_that_was_killed_can_be_resumed_and_replaced() {
    let folder = scratch("bare");
    fs::write(folder.join("slide.toml"), format!("{SLIDING}[record]\ntables = []\n")).unwrap();
    let mut child = endless(&folder, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    let run = ["run", "slide.toml", "--quiet", "--out"];
    let end = (time(&folder.join("a")) + 0.5).to_string();
    done(&folder, &[&run[..], &["b", "--resume", "a", "--duration", &end]].concat(), 0);
    assert!(refused(&folder, &[&run[..], &["a"]].concat()).contains("there is a recording already"));
    done(&folder, &[&run[..], &["a", "--force"]].concat(), 0);
    assert_eq!(files(&folder.join("a")), ["recording.json", "scene.toml", "state.json"]);
}

#[test]
fn a_recording_that_was_cut_short_at_any_file_can_be_replaced() {
    let folder = scratch("cut");
    let run = ["run", "slide.toml", "--quiet", "--force", "--out", "a"];
    done(&folder, &run, 0);
    let whole = files(&folder.join("a"));
    // the marker comes first, the state last
    let marker = fs::read(folder.join("a/recording.json")).unwrap();
    let order = [
        "recording.json",
        ".scene.toml",
        "scene.toml",
        "bodies.parquet",
        "contacts.parquet",
        "steps.parquet",
        ".state.json",
    ];
    for there in 0..=order.len() {
        fs::remove_dir_all(folder.join("a")).unwrap();
        fs::create_dir(folder.join("a")).unwrap();
        fs::write(folder.join("a/.recording.json"), "").unwrap();
        for name in &order[..there] {
            fs::write(folder.join("a").join(name), if *name == "recording.json" { &marker[..] } else { b"" })
                .unwrap();
        }
        done(&folder, &run, 0);
        assert_eq!(files(&folder.join("a")), whole);
    }
}

/// A user's folder with a scene and a table under the names of a recording's: `--force` leaves all of it as it is.
#[test]
fn a_folder_of_ones_own_is_safe_from_force() {
    let folder = scratch("own");
    fs::create_dir(folder.join("mine")).unwrap();
    let own = [
        ("scene.toml", "# my scene"),
        ("joints.csv", "joint,stiffness\nknee,3\n"),
        ("state.json", "{\"mine\": 1}"),
    ];
    for (name, text) in own {
        fs::write(folder.join("mine").join(name), text).unwrap();
        for more in [&["run", "slide.toml", "--quiet", "--csv"][..], &["run", "slide.toml", "--quiet"]] {
            let said = refused(&folder, &[more, &["--force", "--out", "mine"]].concat());
            assert!(said.contains("no recording of this program"), "{said}");
        }
    }
    for (name, text) in own {
        assert_eq!(fs::read_to_string(folder.join("mine").join(name)).unwrap(), text);
    }
    assert_eq!(files(&folder.join("mine")).len(), own.len());
}

/// Recordings of version 0.1.0 have no marker, and are replaced all the same.
#[test]
fn recordings_of_older_versions_are_replaced() {
    for old in ["0.1.0-csv", "0.1.0-parquet"] {
        let folder = scratch(&format!("older-{old}"));
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(old);
        fs::create_dir(folder.join("a")).unwrap();
        for file in fs::read_dir(data).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), folder.join("a").join(file.file_name())).unwrap();
        }
        assert!(refused(&folder, &["run", "slide.toml", "--quiet", "--out", "a"]).contains("already"));
        done(&folder, &["run", "slide.toml", "--quiet", "--force", "--out", "a"], 0);
        assert!(files(&folder.join("a")).contains(&"recording.json".to_owned()));
        assert!(!files(&folder.join("a")).iter().any(|f| f.ends_with(".csv")));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_run_in_order() {
    ends_in_order("-INT", 130);
}

#[cfg(unix)]
#[test]
fn a_termination_ends_the_run_in_order() {
    ends_in_order("-TERM", 143);
}

#[cfg(unix)]
fn ends_in_order(signal: &str, code: i32) {
    let folder = scratch(&format!("interrupt{signal}"));
    let child = endless(&folder, &[]);
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(code), "{out:?}");
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&told["status"], &told["failure"]), (&"interrupted".into(), &serde_json::Value::Null));
    // nothing is lost: the last state is the last row
    let bodies = read(&folder.join("a"), Table::Bodies);
    assert_eq!(bodies.numbers("time").last().unwrap().to_bits(), told["time"].as_f64().unwrap().to_bits());
    let steps = read(&folder.join("a"), Table::Steps);
    assert_eq!(steps.numbers("time").last(), bodies.numbers("time").last());
    let state = fs::read_to_string(folder.join("a/state.json")).unwrap();
    assert!(state.contains(&format!("\"time\": {:?},", told["time"].as_f64().unwrap())), "{state}");
}

/// Rows after a time, as they are in both.
fn tails_agree(whole: &Path, rest: &Path, table: Table, after: f64) {
    let (a, b) = (read(whole, table), read(rest, table));
    let tail = |rows: &Rows| rows.numbers("time").iter().filter(|t| **t > after).count();
    let n = tail(&b);
    assert!(n > 5 && n == tail(&a), "{table:?}: {n}, {}", tail(&a));
    for column in stiction::record::columns(table) {
        let bits = |r: &Rows| -> Vec<u64> {
            let list = r.numbers(&column.name);
            list[list.len().saturating_sub(n)..].iter().map(|x| x.to_bits()).collect()
        };
        assert_eq!(bits(&a), bits(&b), "{}", column.name);
    }
}

/// Two links on spherical joints with a ball between them, to stand after another ball.
const ARM: &str = r#"
[[body]]
name = "upper"
joint = "spherical"
mass = 1
inertia = [1, 1, 1]
mount = { position = [3, 0, 1] }
angular_velocity = [1, 2, 3]

[[body]]
name = "between"
mass = 1
inertia = [1, 1, 1]
position = [5, 5, 5]

[[body]]
name = "lower"
parent = "upper"
joint = "spherical"
mount = { position = [0, 0, -1] }
mass = 1
center = [0, 0, -0.5]
inertia = [1, 1, 1]
"#;

#[test]
fn a_run_that_is_resumed_has_bitwise_the_same_future() {
    let folder = scratch("resume");
    let ellipse = scene("song2004/ellipse-1e-10.toml");
    // an arm whose links are not neighbours in the file: coordinates are tree by tree
    fs::write(folder.join("arm.toml"), format!("{SLIDING}{ARM}")).unwrap();
    for (scene, whole, half) in
        [("slide.toml", "0.3", "0.1"), ("arm.toml", "0.3", "0.1"), (&ellipse, "0.4", "0.2")]
    {
        let run = |arguments: &[&str]| {
            done(&folder, &[&["run", scene, "--quiet", "--force"], arguments].concat(), 0);
        };
        run(&["--out", "whole", "--duration", whole]);
        run(&["--out", "half", "--duration", half]);
        run(&["--out", "rest", "--duration", whole, "--resume", "half"]);
        run(&["--out", "again", "--duration", whole, "--resume", "half/state.json"]);
        let state = |f: &str| fs::read_to_string(folder.join(f).join("state.json")).unwrap();
        assert_eq!(state("whole"), state("rest"));
        assert_eq!(state("whole"), state("again"));
        let after = *read(&folder.join("half"), Table::Bodies).numbers("time").last().unwrap();
        for table in [Table::Bodies, Table::Contacts] {
            tails_agree(&folder.join("whole"), &folder.join("rest"), table, after);
        }
    }
}

/// The contacts table of a scene with torsion has three columns more, in both formats, and plots do not mind.
#[test]
fn moments_are_recorded_where_there_are_any() {
    let folder = scratch("moments");
    let spinning = scene("spinning-sphere.toml");
    done(&folder, &["run", &spinning, "--quiet", "--out", "a"], 0);
    done(&folder, &["run", &spinning, "--quiet", "--csv", "--out", "b"], 0);
    done(&folder, &["export", "a", "--out", "c"], 0);
    done(&folder, &["export", "c", "--format", "parquet", "--out", "d"], 0);
    let rows = read(&folder.join("a"), Table::Contacts);
    assert_eq!(rows.columns(), stiction::record::columns(Table::Contacts));
    for (k, moment) in rows.numbers("moment_n").iter().enumerate() {
        let expected = if rows.numbers("time")[k] < 0.815 { -0.01 * 9.81 } else { 0.0 };
        assert!((moment - expected).abs() < 1e-6, "{moment}");
    }
    assert!(rows.numbers("moment_t").iter().chain(rows.numbers("moment_o")).all(|m| *m == 0.0));
    for other in ["b", "c", "d"] {
        assert_eq!(read(&folder.join(other), Table::Contacts), rows, "{other}");
    }
    let text = fs::read_to_string(folder.join("b/contacts.csv")).unwrap();
    assert!(text.lines().next().unwrap().contains(",deformation_o,status,moment_n,moment_t,moment_o"));
    for figure in ["forces", "status", "energy"] {
        done(&folder, &["plot", "a", "--what", figure, "--out", "a.svg"], 0);
    }
    // nothing touches: the columns are there all the same
    let text = fs::read_to_string(&spinning).unwrap().replace("[0, 0, 0.1]", "[0, 0, 9.0]");
    fs::write(folder.join("high.toml"), text).unwrap();
    done(&folder, &["run", "high.toml", "--quiet", "--csv", "--duration", "0.01", "--out", "e"], 0);
    done(&folder, &["export", "e", "--format", "parquet", "--out", "f"], 0);
    let none = read(&folder.join("f"), Table::Contacts);
    assert_eq!((none.len(), none.columns()), (0, rows.columns()));
}

#[test]
fn states_that_do_not_fit_the_scene_are_refused() {
    let folder = scratch("states");
    let ellipse = scene("song2004/ellipse-1e-10.toml");
    done(&folder, &["run", &ellipse, "--duration", "0.01", "--out", "a", "--quiet"], 0);
    let text = fs::read_to_string(folder.join("a/state.json")).unwrap();
    let said = |text: &str| {
        fs::write(folder.join("state.json"), text).unwrap();
        let said = refused(&folder, &["run", &ellipse, "--resume", "state.json", "--out", "b"]);
        assert!(said.starts_with("error: state.json: ") && !folder.join("b").exists(), "{said}");
        said
    };
    assert!(said("{").contains("no saved state: "));
    assert!(said(&text.replace("\"version\": 3", "\"version\": 7")).contains("a state of version 7"));
    assert!(
        said(&text.replace("ground/", "floor/"))
            .contains("contact floor/ellipse#0: here it is ground/ellipse#0")
    );
    assert!(said(&text.replace("\"part_a\": 1", "\"part_a\": 9")).contains("the scene has no such parts"));
    assert!(
        said(&text.replace("\"velocity\": [", "\"velocity\": [1,")).contains("4 velocities, but the scene")
    );
    let shorter = text.replace("\"deformation\": [", "\"deformation\": [0.0,");
    assert!(said(&shorter).contains("7 deformations, but its law has 6"));
    assert!(said(&text.replace("\"velocity\": [", "\"velocity\": [1e999,")).contains("no saved state"));
    // of another scene, at the end, or not there
    let other = refused(&folder, &["run", "slide.toml", "--resume", "a"]);
    assert!(other.contains("3 positions, but the scene \"slide\" has 7"), "{other}");
    let end = refused(&folder, &["run", &ellipse, "--duration", "0.01", "--resume", "a", "--out", "b"]);
    assert!(end.contains("--duration sets a later end"), "{end}");
    assert!(refused(&folder, &["run", &ellipse, "--resume", "none"]).contains("none: "));
    assert_eq!(call(&folder, &["run", &ellipse, "--duration", "-1"]).status.code(), Some(2));
    let long = refused(&folder, &["run", &ellipse, "--duration", "1e13", "--out", "b"]);
    assert!(long.contains("steps, expected at most 1e12") && !folder.join("b").exists(), "{long}");
    // no time, no attitude
    done(&folder, &["run", "slide.toml", "--out", "c", "--quiet"], 0);
    let text = fs::read_to_string(folder.join("c/state.json")).unwrap();
    for (key, value, message) in [
        ("time", serde_json::json!(-1.0), "time is -1, expected 0 or more"),
        ("position", serde_json::json!([0, 0, 0.1, 2, 0, 0, 0]), "a quaternion of length 2, expected 1"),
        ("position", serde_json::json!([0, 0, 0.1, 0, 0, 0, 0]), "a quaternion of length 0, expected 1"),
    ] {
        let mut state: serde_json::Value = serde_json::from_str(&text).unwrap();
        state[key] = value;
        fs::write(folder.join("state.json"), state.to_string()).unwrap();
        let said = refused(&folder, &["run", "slide.toml", "--resume", "state.json", "--out", "b"]);
        assert!(said.contains(message), "{said}");
    }
}

/// Recordings of version 0.1.0: a ball that slides, as CSV, and one that also resists spin, as Parquet.
#[test]
fn recordings_of_the_first_version_read_plot_export_and_go_on() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folder = scratch("old");
    for (name, other, counts) in [("csv", "parquet", [11, 10, 11, 3]), ("parquet", "csv", [6, 5, 6, 3])] {
        let old = data.join(format!("0.1.0-{name}"));
        let recording = Recording::open(&old).unwrap();
        assert_eq!(recording.tables(), FIRST);
        assert_eq!(FIRST.map(|t| read(&old, t).len()), counts, "{name}");
        let (contacts, steps) = (read(&old, Table::Contacts), read(&old, Table::Steps));
        assert!(contacts.numbers("force_n").iter().all(|f| (f - 9.81).abs() < 1e-9));
        assert_eq!(contacts.numbers("moment_n").len(), if name == "csv" { 0 } else { 5 });
        assert!(contacts.words("contact").all(|c| c == "ground/ball, red#0"));
        assert_eq!((steps.words("status").next(), steps.numbers("kinetic")[0]), (Some("start"), 0.5));
        let model = recording.model().unwrap();
        assert_eq!(model.scene().bodies[0].name, "ball, red");
        let state = recording.state(&model).unwrap();
        assert_eq!(state.time.to_bits(), steps.numbers("time").last().unwrap().to_bits());

        let old = old.to_str().unwrap();
        done(&folder, &["export", old, "--format", other, "--out", other], 0);
        for table in FIRST {
            assert_eq!(read(&folder.join(other), table), recording.read(table).unwrap());
        }
        let said = done(&folder, &["plot", old, "--format", "svg", "--out", &format!("figures-{name}")], 0);
        assert_eq!(said.lines().count(), 6, "{said}");
        let scene = format!("{old}/scene.toml");
        let run = ["run", &scene, "--resume", old, "--duration", "0.25", "--quiet", "--force", "--out", "on"];
        done(&folder, &run, 0);
        assert!((time(&folder.join("on")) - 0.25).abs() < 1e-9);
    }
}

#[test]
fn times_of_records_are_multiples_of_the_step_and_of_their_interval() {
    let folder = scratch("times");
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "a", "--duration", "0.5"], 0);
    let steps = read(&folder.join("a"), Table::Steps);
    for (k, t) in steps.numbers("time").iter().enumerate() {
        assert_eq!(t.to_bits(), ((20 * k) as f64 * 1e-3).to_bits(), "record {k}");
    }
    assert_eq!(*steps.numbers("time").last().unwrap(), 0.5);
}

#[test]
fn contacts_have_their_tangents_and_forces_in_world_axes() {
    let folder = scratch("world");
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "a"], 0);
    let rows = read(&folder.join("a"), Table::Contacts);
    let at = |column: &str| rows.numbers(column)[2];
    // a ball of 1 kg slides along x on level ground, mu = 0.3
    for (column, expected) in
        [("tx", 1.0), ("ty", 0.0), ("tz", 0.0), ("fx", -0.3 * 9.81), ("fy", 0.0), ("fz", 9.81)]
    {
        assert!((at(column) - expected).abs() < 1e-9, "{column}: {}", at(column));
    }
}

#[test]
fn joints_are_recorded_where_there_are_any() {
    let folder = scratch("joints");
    done(&folder, &["run", &scene("pendulum.toml"), "--quiet", "--out", "a", "--duration", "0.1"], 0);
    done(&folder, &["run", "slide.toml", "--quiet", "--out", "b"], 0);
    assert!(!folder.join("b/joints.parquet").exists());
    let (joints, bodies) = (read(&folder.join("a"), Table::Joints), read(&folder.join("a"), Table::Bodies));
    assert_eq!(joints.columns(), stiction::record::columns(Table::Joints));
    assert_eq!(joints.len() + 1, bodies.len(), "one record after another, but not the start");
    assert!(joints.words("kind").all(|k| k == "revolute") && joints.numbers("fz").len() == joints.len());
    assert_eq!(joints.numbers("time"), &bodies.numbers("time")[1..]);
}

#[test]
fn a_run_into_a_folder_that_another_run_writes_is_refused() {
    let folder = scratch("busy");
    let mut child = endless(&folder, &[]);
    let said = refused(&folder, &["run", "slide.toml", "--out", "a", "--force", "--quiet"]);
    assert!(said.contains("a: another run is recording there (--out names another folder)"), "{said}");
    assert!(child.try_wait().unwrap().is_none(), "the first goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    // what a killed run leaves is nobody's
    done(&folder, &["run", "slide.toml", "--out", "a", "--force", "--quiet"], 0);
}
