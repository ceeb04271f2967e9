//! Scenes as plain data: built in code, written and read, and every value found by its path.

use std::path::{Path, PathBuf};
use stiction::geometry::Shape;
use stiction::model::Model;
use stiction::scene::{Body, FrictionKind, Load, Material, Scene, SceneError, WorldPart};
use toml::Value;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

/// All scenes of `scenes/`.
fn shipped() -> Vec<Scene> {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes"), &mut found);
    assert!(found.len() >= 30, "{found:?}");
    found.iter().map(|path| stiction::read(path).unwrap_or_else(|e| panic!("{e}"))).collect()
}

#[test]
fn every_scene_survives_being_written_and_read_as_toml_and_as_json() {
    for scene in shipped() {
        let written = scene.to_toml();
        let again =
            stiction::from_toml("another.toml", &written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(scene, again, "{written}");
        assert_eq!(scene.resolve().unwrap(), again.resolve().unwrap());
        let text = scene.to_json().to_string();
        assert_eq!(stiction::from_json(serde_json::from_str(&text).unwrap()).unwrap(), scene, "{text}");
    }
}

/// Paths of all numbers, words and truths within a value.
fn leaves(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Table(table) => {
            for (key, inner) in table {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(inner, &path, found);
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                let named = ["body", "world", "material"].contains(&path);
                let name = inner.get("name").and_then(Value::as_str).filter(|_| named);
                leaves(inner, &format!("{path}[{}]", name.map_or(i.to_string(), str::to_owned)), found);
            }
        }
        leaf => found.push((path.to_owned(), leaf.clone())),
    }
}

#[test]
fn what_is_set_at_a_path_is_there_and_nothing_else_changes() {
    for scene in shipped() {
        let table: Value = toml::from_str::<toml::Table>(&scene.to_toml()).unwrap().into();
        let mut all = Vec::new();
        leaves(&table, "", &mut all);
        assert!(all.len() > 10);
        // large scenes repeat themselves
        for (path, value) in all.iter().step_by(1 + all.len() / 200) {
            assert_eq!(scene.get(path).unwrap_or_else(|e| panic!("{path}: {e}")), *value);
            let other = match value {
                Value::Float(x) => Value::Float(1.5 * x + 0.25),
                Value::Integer(n) => Value::Integer(n + 2),
                Value::Boolean(x) => Value::Boolean(!x),
                // names may be any, choices may not
                other if !path.ends_with(".name") && path != "name" => other.clone(),
                _ => Value::String("it's [another] \"name\"".to_owned()),
            };
            let mut changed = scene.clone();
            changed.set(path, &other.to_string()).unwrap_or_else(|e| panic!("{path}: {e:?}"));
            if !path.ends_with(".name") {
                assert_eq!(changed.get(path).unwrap(), other, "{path}");
                changed.set(path, &value.to_string()).unwrap();
                assert_eq!(changed, scene, "{path}");
            }
        }
    }
}

/// A ball on the ground, built in code.
fn ball() -> Scene {
    Scene {
        world: vec![WorldPart { name: "ground".into(), ..Default::default() }],
        bodies: vec![Body {
            name: "ball".into(),
            mass: Some(2.0),
            shape: Some(Shape::Sphere { radius: 0.1 }),
            position: Some([0.0, 0.0, 0.1].into()),
            ..Default::default()
        }],
        ..Default::default()
    }
}

#[test]
fn a_scene_built_in_code_is_checked_and_compiled_like_one_that_was_read() {
    assert_eq!(stiction::check(&ball()), []);
    let model = Model::new(&ball()).expect("valid");
    assert_eq!((model.parts().len(), model.contacts().rules().len()), (2, 1));
    let read = stiction::from_toml("", &ball().to_toml()).unwrap();
    assert_eq!(read, ball());
}

#[test]
fn faults_of_a_scene_built_in_code_have_paths() {
    let mut scene = ball();
    scene.materials.push(Material { name: "steel".into(), friction: -0.1, ..Default::default() });
    scene.bodies[0].mass = Some(-1.0);
    scene.bodies.push(Body { mass: Some(-2.0), ..ball().bodies[0].clone() });
    scene.loads.push(Load { body: "bal".into(), force: Some(Default::default()), ..Default::default() });
    scene.step.friction = FrictionKind::Polygon { sides: 5 };
    scene.step.tolerance = f64::NAN;
    let told: Vec<String> = stiction::check(&scene).iter().map(ToString::to_string).collect();
    let expected = [
        "step.tolerance: not a finite number, expected a finite one",
        "material[steel].friction: friction is -0.1, expected at least 0 and finite",
        // two have that name
        "body[1].name: duplicate name 'ball', expected one that is not taken",
        "body[0].mass: mass is -1, expected a number above 0",
        "body[1].mass: mass is -2, expected a number above 0",
        "step.friction.polygon.sides: sides is 5, expected an even number from 4 to 64",
        "load[0].body: unknown body 'bal', did you mean 'ball'?",
    ];
    assert_eq!(told, expected);
    assert!(Model::new(&scene).is_err_and(|faults| faults.len() == expected.len()));
    // what only two shapes that can touch make wrong
    let mut rough = ball();
    rough.materials.push(Material { name: "default".into(), friction: 1e4, ..Default::default() });
    let told: Vec<String> = stiction::check(&rough).into_iter().map(|f| f.path).collect();
    assert_eq!(told, ["material[default].friction"]);
}

#[test]
fn absent_keys_and_the_tables_on_the_way_to_them_can_be_set() {
    let mut scene = ball();
    scene.set("body[ball].velocity", "[1, 0, 0]").unwrap();
    scene.set("body[0].velocity[1]", "-0.5").unwrap();
    scene.set("body[ball].orientation.quaternion", "[1, 0, 0, 0]").unwrap();
    scene.set("body[ball].shape.box.half", "[0.1, 0.2, 0.3]").unwrap();
    scene.set("step.solver", "newton").unwrap();
    scene.set("step.friction.polygon.sides", "8").unwrap();
    scene.set("record.interval", "0.5").unwrap();
    scene.set("gravity", "[0, 0, -1.6]").unwrap();
    let body = &scene.bodies[0];
    assert_eq!(body.velocity, Some([1.0, -0.5, 0.0].into()));
    assert_eq!(body.shape, Some(Shape::Box { half: [0.1, 0.2, 0.3] }));
    assert_eq!(scene.step.friction, FrictionKind::Polygon { sides: 8 });
    assert_eq!((scene.record.interval, scene.gravity.as_deref().map(Vec::len)), (Some(0.5), Some(3)));
    assert_eq!(stiction::check(&scene), []);
}

#[test]
fn unknown_paths_and_wrong_values_are_refused() {
    for (path, value, expected) in [
        ("step.hh", "1", "unknown path 'step.hh', did you mean 'step.h'?"),
        ("body[bal].mass", "1", "unknown path 'body[bal].mass', did you mean 'body[ball].mass'?"),
        ("body[ball].mas", "1", "unknown path 'body[ball].mas', did you mean 'body[ball].mass'?"),
        ("body[7].mass", "1", "unknown path 'body[7].mass': 'body' has 1 items"),
        ("bodi[ball].mass", "1", "unknown path 'bodi[ball].mass', did you mean 'body[ball].mass'?"),
        ("body[ball", "1", "unknown path 'body[ball'"),
        ("", "1", "unknown path ''"),
        ("step.h", "fast", "step.h: text, expected a number"),
        ("step.h", "1\nduration = 3", "step.h: several values, expected one"),
        ("step.gap", "positon", "step.gap: unknown choice 'positon', did you mean 'position'?"),
        (
            "body[ball].velocity[0]",
            "1",
            "body[ball].velocity[0]: no list with an item [0]: set 'body[0].velocity' as a whole",
        ),
    ] {
        let mut scene = ball();
        let faults = scene.set(path, value).expect_err(path);
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
        assert_eq!(scene, ball());
    }
    let absent = ball().get("body[ball].velocity").expect_err("absent");
    assert_eq!(absent.to_string(), "body[ball].velocity: 'velocity' is not given");
    let json = serde_json::json!({ "body": [{ "name": "b", "mass": null, "shape": { "sphere": {} } }] });
    let faults = stiction::from_json(json).expect_err("no radius");
    assert_eq!(faults[0].to_string(), "body[b].shape.sphere: missing key 'radius'");
}

/// Of keys, choices, types, numbers and names; but not what may only follow from another fault.
#[test]
fn all_faults_of_a_file_are_reported() {
    let text = r#"gravity = [0, 0]
[[material]]
name = "steel"
friction = -1
[[material]]
name = "wood"
yuong = 1e9
[[world]]
name = "ground"
shape = { box = { half = [1, 1] } }
[[body]]
name = "a"
mass = "heavy"
shape = { sphere = { radius = 1 } }
[[body]]
name = "b"
shape = { sphere = {} }
[[body]]
name = "c"
mass = -2
shape = { sphere = { radius = -1 } }
material = "stel"
[[load]]
body = "d"
force = { constant = [0, 1] }
[[motor]]
body = "a"
effort = { constant = 1 }
[step]
hh = 1
[record]
tables = ["bodies", "contacs"]
"#;
    let Err(SceneError::Invalid { faults, .. }) = stiction::from_toml("s.toml", text) else {
        panic!("valid")
    };
    let told: Vec<(usize, &str)> =
        faults.iter().map(|f| (f.place.map_or(0, |p| p.line), f.path.as_str())).collect();
    let expected = [
        (1, "gravity"),
        (4, "material[steel].friction"),
        (7, "material[wood].yuong"),
        (10, "world[ground].shape.box.half"),
        (13, "body[a].mass"),
        (17, "body[b].shape.sphere"),
        (20, "body[c].mass"),
        (21, "body[c].shape.sphere.radius"),
        (22, "body[c].material"),
        (24, "load[0].body"),
        (30, "step.hh"),
        (32, "record.tables[1]"),
    ];
    assert_eq!(told, expected, "{faults:?}");
}
