//! `stiction run` as a program: the recording, exit codes, the summary.

use crate::program;

use program::{SLIDING, scratch as scratch_in};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn scratch(name: &str) -> PathBuf {
    scratch_in("run", name)
}

/// Runs with tables of text, which are read here line by line.
fn with_run<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--csv"], arguments].concat()
}

fn done(folder: &Path, arguments: &[&str], code: i32) -> String {
    program::done(folder, &with_run(arguments), code)
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    program::refused(folder, &with_run(arguments))
}

/// The header and the rows of a table.
fn table(path: PathBuf) -> (String, Vec<Vec<String>>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_owned();
    let rows: Vec<Vec<String>> = lines.map(|l| l.split(',').map(str::to_owned).collect()).collect();
    assert!(rows.iter().all(|r| r.len() == header.split(',').count()), "{text}");
    (header, rows)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} against {b}");
}

const FALLING: &str = r#"
gravity = [0, 0, -10]

[[body]]
name = "ball"
shape = { sphere = { radius = 0.1 } }
mass = 2
position = [1, 0, 0]
velocity = [3, 0, 0]

[step]
h = 0.01
duration = 0.2

[record]
interval = 0.05
"#;

#[test]
fn a_falling_ball_is_recorded_as_it_falls() {
    let folder = scratch("falling");
    fs::write(folder.join("fall.toml"), FALLING).unwrap();
    let said = done(&folder, &["fall.toml"], 0);
    assert!(said.starts_with("fall    20 steps of 10 ms in "), "{said}");
    assert!(said.contains(" per step), reached t = 0.2 s\n"), "{said}");
    assert!(said.ends_with("view it: stiction view fall.recording\n"), "{said}");
    let out = folder.join("fall.recording");
    let read = |path: &Path| stiction::read(path).unwrap();
    assert_eq!(read(&out.join("scene.toml")), read(&folder.join("fall.toml")));

    let (header, rows) = table(out.join("bodies.csv"));
    assert_eq!(header, "time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz");
    assert_eq!(rows.len(), 5);
    for (k, row) in rows.iter().enumerate() {
        let n = 5.0 * k as f64;
        assert_eq!((row[1].as_str(), row[5].as_str()), ("ball", "1.0"));
        near(number(&row[0]), 0.01 * n, 1e-12);
        near(number(&row[2]), 1.0 + 0.03 * n, 1e-12);
        // v after n steps is -g h n, and the position the sum of h v
        near(number(&row[4]), -10.0 * 1e-4 * n * (n + 1.0) / 2.0, 1e-12);
        near(number(&row[11]), -0.1 * n, 1e-12);
    }

    let (header, rows) = table(out.join("steps.csv"));
    assert_eq!(
        header,
        "time,h,status,solver,iterations,wasted,residual,kinetic,potential,elastic,friction_loss,damping_loss,work,recovery_work,release_loss,transport_loss,constraint_work,handover_work,impact_loss,relaxed,trust,violation"
    );
    assert_eq!(
        rows.iter().map(|r| r[2].as_str()).collect::<Vec<_>>(),
        ["start", "solved", "solved", "solved", "solved"]
    );
    let last = &rows[4];
    assert_eq!((last[3].as_str(), last[4].as_str()), ("none", "0"));
    near(number(&last[7]), 0.5 * 2.0 * (9.0 + 4.0), 1e-11);
    near(number(&last[8]), -2.0 * 10.0 * 0.21, 1e-11);
    assert_eq!(
        last[9..],
        ["0.0", "0.0", "0.0", "0.0", "0.0", "0.0", "0.0", "0.0", "0.0", "0.0", "0", "unique", "0.0"]
    );

    for empty in ["contacts.csv", "events.csv"] {
        assert_eq!(table(out.join(empty)).1.len(), 0);
    }
}

#[test]
fn a_sliding_ball_closes_slips_and_sticks() {
    let folder = scratch("sliding");
    fs::write(folder.join("slide.toml"), SLIDING.replace(", red", "")).unwrap();
    let said = done(&folder, &["slide.toml", "--json", "--out", "deep/er"], 0);
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&told["status"], &told["steps"]), (&"finished".into(), &200.into()));
    assert_eq!(
        told["events"],
        serde_json::json!({
            "open": 0, "close": 1, "stick": 1, "slip": 1, "impact-without-collision": 0, "to-compliant": 0, "to-rigid": 0,
            "branch": 0, "branch-ends-force": 0, "branch-ends-slip": 0, "branch-ends-friction": 0, "branch-ends-touch": 0,
            "branch-ends-joint": 0, "branch-unique": 0, "impact": 0, "bounce": 0, "slip-reverse": 0
        })
    );
    let out = folder.join("deep/er");

    let (header, rows) = table(out.join("events.csv"));
    assert_eq!(header, "time,contact,element,body_a,body_b,event,impulse");
    let what: Vec<&str> = rows.iter().map(|r| r[5].as_str()).collect();
    assert_eq!(what, ["close", "slip", "stick"]);
    assert_eq!(rows[2][1..5], ["ground/ball#0", "0", "ground", "ball"]);
    // 2 v / (7 mu g)
    near(number(&rows[2][0]), 2.0 / (7.0 * 0.3 * 9.81), 1.5e-3);

    // default interval 0.02 s; nothing is known of contacts before the first step
    let (header, rows) = table(out.join("contacts.csv"));
    assert!(
        header
            .starts_with("time,contact,element,body_a,body_b,px,py,pz,nx,ny,nz,gap,force_n,force_t,force_o,")
    );
    assert!(header.ends_with(
        ",slip_t,slip_o,deformation_n,deformation_t,deformation_o,status,tx,ty,tz,fx,fy,fz,core_n"
    ));
    assert_eq!(rows.len(), 10);
    for row in &rows {
        near(number(&row[12]), 9.81, 1e-6);
        near(number(&row[10]), 1.0, 1e-12);
    }
    assert_eq!((rows[0][20].as_str(), rows[9][20].as_str()), ("slip", "stick"));
    near(number(&rows[0][13]), -0.3 * 9.81, 1e-6);

    let (_, rows) = table(out.join("steps.csv"));
    assert_eq!(rows.len(), 11);
    let column = |c: usize| rows.iter().map(|r| number(&r[c])).collect::<Vec<_>>();
    assert!(column(6).iter().all(|r| *r <= 1e-9));
    assert!(column(10).windows(2).all(|w| w[1] >= w[0] - 1e-15));
    near(told["energy"]["friction_loss"].as_f64().unwrap(), column(10)[10], 1e-15);
    // 1/2 (1 - 5/7), up to the step's own error
    near(column(10)[10], 1.0 / 7.0, 2e-3);
    near(told["energy"]["end"]["kinetic"].as_f64().unwrap(), 0.5 * 5.0 / 7.0, 1e-6);
}

#[test]
fn only_the_tables_asked_for_are_written_and_names_are_quoted() {
    let folder = scratch("tables");
    let text = format!("{SLIDING}[record]\ntables = [\"events\"]\n");
    fs::write(folder.join("slide.toml"), text).unwrap();
    assert_eq!(done(&folder, &["slide.toml", "--quiet"], 0).lines().count(), 1);
    let out = folder.join("slide.recording");
    let mut files: Vec<_> =
        fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["events.csv", "recording.json", "scene.toml", "state.json"]);
    let text = fs::read_to_string(out.join("events.csv")).unwrap();
    // a recording without tables is one as well
    fs::write(folder.join("slide.toml"), format!("{SLIDING}[record]\ntables = []\n")).unwrap();
    done(&folder, &["slide.toml", "--quiet", "--force"], 0);
    done(&folder, &["slide.toml", "--quiet", "--force"], 0);
    assert!(!out.join("events.csv").exists());
    assert!(text.contains(",\"ground/ball, red#0\",0,ground,\"ball, red\",close,"), "{text}");
}

#[test]
fn values_are_set_before_the_run_and_recorded_with_it() {
    let folder = scratch("set");
    fs::write(folder.join("fall.toml"), FALLING).unwrap();
    let said = done(&folder, &["fall.toml", "--set", "step.h=0.02", "--set", "body[ball].velocity[0]=1"], 0);
    assert!(said.starts_with("fall    10 steps of 20 ms in "), "{said}");
    let scene = stiction::read(folder.join("fall.recording/scene.toml")).unwrap();
    assert_eq!((scene.name.as_str(), scene.step.h), ("fall", 0.02));
    assert_eq!(scene.bodies[0].velocity, Some([1.0, 0.0, 0.0].into()));
    let (_, rows) = table(folder.join("fall.recording/bodies.csv"));
    near(number(&rows.last().unwrap()[2]), 1.2, 1e-12);
}

#[test]
fn wrong_scenes_are_refused_with_their_faults() {
    let folder = scratch("wrong");
    fs::write(folder.join("wrong.toml"), FALLING.replace("mass", "masss").replace("duration", "durations"))
        .unwrap();
    let said = refused(&folder, &["wrong.toml"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.lines().all(|l| l.starts_with("wrong.toml:")), "{said}");
    assert!(!folder.join("wrong.recording").exists());
    assert!(refused(&folder, &["none.toml"]).starts_with("none.toml: "));
}

#[test]
fn folders_are_not_overwritten_unasked() {
    let folder = scratch("folders");
    fs::write(folder.join("fall.toml"), FALLING).unwrap();
    done(&folder, &["fall.toml"], 0);
    let steps = fs::read_to_string(folder.join("fall.recording/steps.csv")).unwrap();
    let said = refused(&folder, &["fall.toml"]);
    assert_eq!(
        said,
        "error: fall.recording: there is a recording already (--force replaces it, --out names another folder)\n"
    );
    done(&folder, &["fall.toml", "--force"], 0);
    assert_eq!(fs::read_to_string(folder.join("fall.recording/steps.csv")).unwrap(), steps);

    // what is no recording is safe from --force as well
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/thesis.txt"), "years of work").unwrap();
    for arguments in [&["fall.toml", "--out", "mine"][..], &["fall.toml", "--out", "mine", "--force"]] {
        assert!(refused(&folder, arguments).contains("mine: not empty, and no recording"));
    }
    assert_eq!(fs::read_dir(folder.join("mine")).unwrap().count(), 1);
    refused(&folder, &["fall.toml", "--out", "fall.toml"]);
    // an empty folder is welcome
    fs::create_dir(folder.join("empty")).unwrap();
    done(&folder, &["fall.toml", "--out", "empty"], 0);
}

#[test]
fn a_failed_step_is_told_and_what_came_before_stays() {
    let folder = scratch("failing");
    // a spring that is far too stiff for the step: its force overflows after some steps
    let spring = "[[spring]]\nfrom = { body = 'ball' }\nto = { point = [1, 0, 0.1] }\nrest_length = 0.5\nstiffness = 1e9\n";
    let text = SLIDING.replace(", red", "").replace("[step]", &format!("{spring}[step]"));
    fs::write(folder.join("slide.toml"), text).unwrap();
    let told: Value = serde_json::from_str(&done(&folder, &["slide.toml", "--json"], 1)).unwrap();
    assert_eq!(told["status"], "failed");
    let failure = told["failure"].as_str().unwrap();
    assert!(failure.contains("not finite") || failure.contains("not solved"), "{told}");
    let made = told["steps"].as_u64().unwrap();
    assert!(made > 0 && made < 200);
    let (_, rows) = table(folder.join("slide.recording/steps.csv"));
    let last = rows.last().unwrap();
    assert_eq!(last[2], "failed");
    near(number(&last[0]), 1e-3 * made as f64, 1e-9);
    // the last good state is there
    let (_, rows) = table(folder.join("slide.recording/bodies.csv"));
    near(number(&rows.last().unwrap()[0]), 1e-3 * made as f64, 1e-9);
    let state = fs::read_to_string(folder.join("slide.recording/state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["time"].as_f64().unwrap().to_bits(), number(&rows.last().unwrap()[0]).to_bits());
    assert!(done(&folder, &["slide.toml", "--force"], 1).starts_with("slide    failed after "));
}

/// A spring of 500 rad/s whose force is that of the start of the step: with theta = 1/2 its swing grows, with 0 it does not (symplectic Euler).
#[test]
fn energy_out_of_nothing_is_told() {
    let folder = scratch("made");
    for (theta, warns) in [("0.5", true), ("0", false)] {
        let text = format!(
            "[[body]]\nname = 'ball'\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 1]\n\
             [[spring]]\nstiffness = 2.5e5\nrest_length = 0.9\nfrom = {{ point = [0, 0, 2] }}\nto = {{ body = 'ball' }}\n\
             [step]\nh = 1e-3\nduration = 0.3\nexplicit_share = {theta}\nforces = 'start'\n"
        );
        fs::write(folder.join("ball.toml"), text).unwrap();
        let told = done(&folder, &["ball.toml", "--force"], 0);
        assert_eq!(told.contains("warning    energy was made"), warns, "{told}");
        assert_eq!(told.contains("or explicit_share = 0"), warns, "{told}");
    }
}

/// Ten boxes on each other: thousands of sweeps a step by Gauss-Seidel alone, a few iterations by auto.
#[test]
fn hard_rigid_contacts_are_told() {
    let folder = scratch("hard");
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/stack-of-ten.toml");
    let stack = fs::read_to_string(scene).unwrap();
    for (solver, hard) in [("gauss_seidel", true), ("auto", false)] {
        let step = format!("[step]\nsolver = '{solver}'\ntolerance = 1e-3");
        fs::write(folder.join("stack.toml"), stack.replace("[step]", &step)).unwrap();
        let told = done(&folder, &["stack.toml", "--duration", "0.003", "--force"], 0);
        assert_eq!(told.contains("rigid contacts are hard here"), hard, "{told}");
    }
}

const STACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/stack-mass-ratio.toml");

/// Rounding keeps a stack from a residual of 1e-300: its steps are accepted, and every place that reports them says so.
#[test]
fn steps_above_the_tolerance_are_accepted_and_reported() {
    let folder = scratch("loose");
    let run = [STACK, "--set", "step.tolerance=1e-300", "--duration", "0.005", "--out", "r"];
    let said = done(&folder, &run, 0);
    assert!(said.contains("the tolerance of 1e-300 was not reached in 5 steps"), "{said}");
    let told: Value =
        serde_json::from_str(&done(&folder, &[&run[..], &["--force", "--json"]].concat(), 0)).unwrap();
    assert_eq!(told["loose_steps"], 5);
    let (header, rows) = table(folder.join("r/steps.csv"));
    let at = header.split(',').position(|name| name == "status").unwrap();
    assert!(rows[1..].iter().all(|r| r[at] == "loose") && rows.len() == 6, "{rows:?}");
}

/// A method that does not reach even 1e-6 fails the step, with what is violated and what may help.
#[test]
fn an_unsolved_step_fails_with_its_diagnosis() {
    let folder = scratch("unsolved");
    let run = [STACK, "--set", "step.solver=gauss_seidel", "--set", "step.retries=0", "--duration", "0.005"];
    let said = done(&folder, &run, 1);
    let words = [
        "gauss-seidel met its limit of work",
        "box 1/box 2 closes at",
        "a solution exists",
        "solver = \"auto\" may help",
    ];
    assert!(words.iter().all(|w| said.contains(w)), "{said}");
}
