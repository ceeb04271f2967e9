//! Variables, arithmetic, copies, included files and meshes of scene files: what they stand for, and the faults of each.

use std::fs;
use std::path::PathBuf;
use stiction::geometry::Shape;
use stiction::model::Model;
use stiction::scene::{Scene, SceneError};

const SCENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");

fn scene(text: &str) -> Scene {
    stiction::from_toml("test.toml", text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn fault(text: &str) -> String {
    stiction::from_toml("test.toml", text).expect_err(text).to_string()
}

/// A folder of its own, with files.
fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scene_expansion").join(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn read(folder: &std::path::Path, set: &[(&str, &str)]) -> Result<Scene, SceneError> {
    let set: Vec<(String, String)> = set.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect();
    stiction::read_with(folder.join("main.toml"), &set)
}

#[test]
fn fifty_dominoes_are_a_few_lines() {
    let path = format!("{SCENES}/dominoes.toml");
    let lines = fs::read_to_string(&path).unwrap();
    let lines = lines.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')).count();
    assert!(lines <= 20, "{lines}");
    let scene = stiction::read(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.bodies.len(), 50);
    let model = Model::new(&scene).unwrap();
    let (first, last) = (&model.scene().bodies[0], &model.scene().bodies[49]);
    assert_eq!((first.name.as_str(), last.name.as_str()), ("domino0", "domino49"));
    assert!((last.position[0] - 49.0 * 0.03).abs() < 1e-12);
    // the resolved scene has no abbreviations and reads back as itself
    let text = scene.to_toml();
    assert!(!text.contains("repeat") && !text.contains("let"));
    assert_eq!(stiction::from_toml("dominoes.toml", &text).unwrap(), scene);
}

#[test]
fn grids_circles_and_lists_are_copies() {
    let text = "[let]\nn = 6\nr = '= 2 * n / 6'\n\
                [[body]]\nrepeat = { i = '= n / 2', j = 2 }\nname = 'grid{i}-{j}'\nmass = 1\ninertia = [1, 1, 1]\nposition = ['= i', '= -j', 0]\n\
                [[body]]\nrepeat = { k = '= n' }\nname = 'ring{k + 1}'\nmass = 1\ninertia = [1, 1, 1]\n\
                position = ['= r * cos(2 * pi * k / n)', '= r * sin(2 * pi * k / n)', 1]\n\
                [[body]]\nrepeat = { m = [0.5, 2.5] }\nname = 'mass {m}'\nmass = '= m'\ninertia = [1, 1, 1]\n\
                [[body]]\nrepeat = { row = 3, column = '= row + 1' }\nname = 'pile{row}{column}'\nmass = 1\ninertia = [1, 1, 1]\n";
    let scene = scene(text);
    let names: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names[..7], ["grid0-0", "grid0-1", "grid1-0", "grid1-1", "grid2-0", "grid2-1", "ring1"]);
    assert_eq!(
        names[12..],
        ["mass 0.5", "mass 2.5", "pile00", "pile10", "pile11", "pile20", "pile21", "pile22"]
    );
    assert_eq!(scene.bodies[13].mass, Some(2.5));
    let ring = scene.resolve().unwrap();
    let at = &ring.bodies[7].position;
    assert!((at[0] - 1.0).abs() < 1e-15 && (at[1] - 3f64.sqrt()).abs() < 1e-15);
}

#[test]
fn variables_and_copies_are_set_by_their_paths() {
    let folder = folder(
        "set",
        &[("main.toml", b"[let]\ngap = 0.5\nfar = '= 2 * gap'\n[[body]]\nrepeat = { i = 3 }\nname = 'b{i}'\nmass = 1\ninertia = [1, 1, 1]\nposition = ['= i * far', 0, 0]\n")],
    );
    let found = read(&folder, &[("let.gap", "2"), ("body[b1].mass", "7")]).unwrap();
    assert_eq!(found.resolve().unwrap().bodies[2].position[0], 8.0);
    assert_eq!(found.bodies[1].mass, Some(7.0));
    let wrong = read(&folder, &[("let.gpa", "2")]).unwrap_err().to_string();
    assert_eq!(wrong, "unknown path 'let.gpa', did you mean 'let.gap'?");
    let wrong = read(&folder, &[("body[b9].mass", "2")]).unwrap_err().to_string();
    assert!(wrong.contains("unknown path 'body[b9].mass'"), "{wrong}");
}

#[test]
fn included_files_have_a_prefix_and_other_values() {
    let leg = b"[let]\nx = 0\n[[material]]\nname = 'rubber'\nfriction = 0.9\n\
        [[body]]\nname = 'hip'\nmass = 1\ninertia = [1, 1, 1]\nposition = ['= x', 0, 1]\nmaterial = 'rubber'\nshape = { sphere = { radius = 0.1 } }\n\
        [[body]]\nname = 'foot'\nparent = 'hip'\njoint = { revolute = {} }\nmass = 1\ninertia = [1, 1, 1]\n\
        [[motor]]\nbody = 'foot'\neffort = { constant = 2 }\n[step]\nh = 0.5\n";
    let folder = folder(
        "include",
        &[
            ("main.toml", b"[[include]]\nrepeat = { i = 2 }\nfile = 'parts/leg.toml'\nprefix = 'leg{i}_'\nlet = { x = '= 3 * i' }\n[step]\nh = 1e-3\n"),
            ("parts/leg.toml", leg),
        ],
    );
    let found = read(&folder, &[]).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = found.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["leg0_hip", "leg0_foot", "leg1_hip", "leg1_foot"]);
    assert_eq!(found.bodies[3].parent.as_deref(), Some("leg1_hip"));
    assert_eq!(found.bodies[2].material.as_deref(), Some("leg1_rubber"));
    assert_eq!(found.motors[1].body, "leg1_foot");
    assert_eq!(found.resolve().unwrap().bodies[2].position[0], 3.0);
    assert_eq!(found.step.h, 1e-3);
    // a fault of the included file points there
    fs::write(
        folder.join("parts/leg.toml"),
        String::from_utf8_lossy(leg).replace("mass = 1\n", "mess = 1\n"),
    )
    .unwrap();
    let wrong = read(&folder, &[]).unwrap_err().to_string();
    assert!(wrong.lines().all(|l| l.contains("parts/leg.toml:")), "{wrong}");
    assert!(wrong.contains("parts/leg.toml:8:1: unknown key 'mess', did you mean 'mass'?"), "{wrong}");
}

#[test]
fn each_abuse_is_one_clear_fault() {
    let body =
        |key: &str| format!("[let]\ng = 1\n[[body]]\n{key}\nname = 'b'\nmass = 1\ninertia = [1, 1, 1]\n");
    for (text, expected) in [
        (body("repeat = { i = 1e9 }"), "test.toml:4:16: repeat: 1000000000 copies, expected at most 20000"),
        (body("repeat = { i = 1000, j = 1000 }"), "repeat makes more than 20000 copies"),
        (
            body("repeat = { i = 2.5 }"),
            "test.toml:4:16: repeat: 2.5 copies, expected a whole number, 0 or more",
        ),
        (
            body("repeat = 5"),
            "test.toml:4:10: repeat: expected a table such as { i = 10 } or { i = 10, j = 5 }",
        ),
        (body("position = ['= 1 / (g - 1)', 0, 0]"), "test.toml:4:13: division by zero in '1 / (g - 1)'"),
        (body("position = ['= gg', 0, 0]"), "test.toml:4:13: unknown variable 'gg', did you mean 'g'?"),
        ("[let]\na = '= b'\nb = '= a'\n".to_owned(), "variables depend on each other: a -> b -> a"),
        ("let = 3\n".to_owned(), "test.toml:1:7: let: expected a table of variables"),
        (
            "[let]\na = [1]\n".to_owned(),
            "test.toml:2:5: variable 'a': expected a number, an expression or text",
        ),
        ("[[include]]\nprefix = 'a'\n".to_owned(), "include: missing key 'file'"),
        (
            "[[include]]\nfile = 'a.toml'\nprefx = 'a'\n".to_owned(),
            "test.toml:3:1: unknown key 'prefx', expected one of file, prefix, let, repeat",
        ),
        (
            "[[include]]\nfile = '/etc/hosts'\n".to_owned(),
            "expected a path that starts from the folder of this file",
        ),
    ] {
        let found = fault(&text);
        assert_eq!(found.lines().count(), 1, "{found}");
        assert!(found.contains(expected), "{found}\nexpected: {expected}");
    }
    // copies of a fault are one fault
    let many = fault("[[body]]\nrepeat = { i = 500 }\nname = 'b{i}'\nmass = '= 1 / 0'\n");
    assert_eq!(many, "test.toml:4:8: division by zero in '1 / 0'");
    let nested = format!("a = {}1{}\n", "[".repeat(5000), "]".repeat(5000));
    assert!(fault(&nested).starts_with("test.toml:1:"));
}

#[test]
fn include_cycles_and_files_outside_are_refused() {
    let folder = folder(
        "cycles",
        &[
            ("scene/main.toml", b"[[include]]\nfile = 'a.toml'\n"),
            ("scene/a.toml", b"[[include]]\nfile = 'b.toml'\n"),
            ("scene/b.toml", b"[[include]]\nfile = 'a.toml'\n"),
            ("scene/self.toml", b"[[include]]\nfile = 'self.toml'\n"),
            ("scene/out.toml", b"[[include]]\nfile = '../outside.toml'\n"),
            ("scene/missing.toml", b"[[include]]\nfile = 'nowhere.toml'\n"),
            ("scene/flat.toml", b"[[include]]\nfile = 'planar.toml'\n"),
            ("scene/planar.toml", b"planar = true\n"),
            ("outside.toml", b""),
        ],
    );
    for (file, expected) in [
        ("main", "b.toml:2:8: 'a.toml' includes itself, directly or through other files"),
        ("self", "self.toml:2:8: 'self.toml' includes itself"),
        ("out", "out.toml:2:8: '../outside.toml' is outside the folder of the scene"),
        ("missing", "missing.toml:2:8: 'nowhere.toml': "),
        ("flat", "flat.toml:2:8: 'planar.toml' is planar, and the scene that includes it is spatial"),
    ] {
        let found = stiction::read(folder.join(format!("scene/{file}.toml"))).unwrap_err().to_string();
        assert!(found.lines().count() == 1 && found.contains(expected), "{found}");
    }
}

/// Corners and triangles of a box from 0 to the given lengths, all triangles outward.
fn cuboid([a, b, c]: [f32; 3]) -> (Vec<[f32; 3]>, Vec<[usize; 3]>) {
    let corner = |k: usize| [a * (k & 1) as f32, b * (k >> 1 & 1) as f32, c * (k >> 2) as f32];
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|[p, q, r, s]| [[*p, *q, *r], [*p, *r, *s]]).collect();
    ((0..8).map(corner).collect(), triangles)
}

fn ascii(vertices: &[[f32; 3]], triangles: &[[usize; 3]]) -> String {
    let mut text = "solid part\n".to_owned();
    for t in triangles {
        text += "facet normal 0 0 0\nouter loop\n";
        for k in t {
            text += &format!("vertex {:?} {:?} {:?}\n", vertices[*k][0], vertices[*k][1], vertices[*k][2]);
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid part\n"
}

fn binary(vertices: &[[f32; 3]], triangles: &[[usize; 3]]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for t in triangles {
        bytes.extend([0; 12]);
        t.iter().flat_map(|k| vertices[*k]).for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn meshes_are_their_hulls() {
    let (vertices, triangles) = cuboid([200.0, 100.0, 50.0]);
    let obj = vertices.iter().map(|v| format!("v {} {} {}\n", v[0], v[1], v[2])).collect::<String>()
        + "# a face of four, and normals\nvn 0 0 1\nf 1//1 3//1 4//1 2//1\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf -8 -4 -2 -6\nf 2 4 8 6\n";
    let part = |file: &str, more: &str| {
        format!(
            "[[body]]\nname = 'part'\ndensity = 1000\nshape = {{ mesh = {{ file = '{file}', scale = 1e-3{more} }} }}\n"
        )
    };
    let mut dent = vertices.clone();
    dent.push([100.0, 50.0, 40.0]);
    // the upper face of the box goes down to a point inside
    let mut dented: Vec<[usize; 3]> =
        triangles.iter().copied().filter(|t| !t.iter().all(|k| *k > 3)).collect();
    dented.extend([[4, 5, 8], [5, 7, 8], [7, 6, 8], [6, 4, 8]]);
    let open = &triangles[2..];
    let folder = folder(
        "meshes",
        &[
            ("a.stl", ascii(&vertices, &triangles).as_bytes()),
            ("b.stl", &binary(&vertices, &triangles)),
            ("c.obj", obj.as_bytes()),
            ("dented.stl", &binary(&dent, &dented)),
            ("open.stl", ascii(&vertices, open).as_bytes()),
            ("cut.stl", &binary(&vertices, &triangles)[..200]),
            ("flat.stl", ascii(&vertices, &triangles[..2]).as_bytes()),
            ("text.obj", b"v 1 2\n"),
            ("face.obj", b"v 1 2 3\nf 1 2 3\n"),
            ("part.txt", b""),
        ],
    );
    let try_file = |file: &str, more: &str| {
        fs::write(folder.join("main.toml"), part(file, more)).unwrap();
        read(&folder, &[])
    };
    for file in ["a.stl", "b.stl", "c.obj"] {
        let scene = try_file(file, "").unwrap_or_else(|e| panic!("{e}"));
        assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
        let Some(Shape::Polytope { vertices }) = &scene.bodies[0].shape else { panic!("no polytope") };
        assert_eq!(vertices.len(), 8);
        let body = &scene.resolve().unwrap().bodies[0];
        assert!((body.link.inertia.mass - 1.0).abs() < 1e-6, "{}", body.link.inertia.mass);
    }
    // the volume that is missing is a pyramid of a third of the height 10
    let dented = try_file("dented.stl", "").unwrap();
    let share = 100.0 * (1.0 - 10.0 / 3.0 / 50.0);
    let words =
        format!("mesh 'dented.stl' is not convex: its hull stands for it, of which it fills {share:.1} %");
    assert_eq!(dented.warnings, [words]);
    let open = try_file("open.stl", ", hull = true").unwrap();
    assert!(open.warnings[0].contains("is open at 4 edges"), "{:?}", open.warnings);
    for (file, expected) in [
        ("open.stl", "main.toml:4:27: mesh 'open.stl': open at 4 edges, expected a closed surface"),
        ("nowhere.stl", "main.toml:4:27: 'nowhere.stl': "),
        ("cut.stl", "neither binary STL (its size does not fit its count of triangles) nor ASCII STL"),
        ("flat.stl", "a polytope needs a volume"),
        ("text.obj", "mesh 'text.obj': line 1: 2 coordinates, expected 3"),
        ("face.obj", "mesh 'face.obj': line 2: no vertex '2'"),
        ("part.txt", "expected a file that ends in .stl or .obj"),
    ] {
        let found = try_file(file, "").unwrap_err().to_string();
        assert!(found.lines().count() == 1 && found.contains(expected), "{found}\nexpected: {expected}");
    }
    let found = try_file("a.stl", ", scal = 2").unwrap_err().to_string();
    assert!(found.contains("unknown key 'scal', expected one of file, scale, hull"), "{found}");
}

#[test]
fn files_without_abbreviations_keep_their_texts() {
    let text = "[[body]]\nname = 'a{b}'\nmass = 1\ninertia = [1, 1, 1]\n";
    assert_eq!(scene(text).bodies[0].name, "a{b}");
    let json = serde_json::json!({ "let": { "m": 2 }, "body": [{ "repeat": { "i": 2 }, "name": "b{i}", "mass": "= m * (i + 1)", "inertia": [1, 1, 1] }] });
    let built = stiction::from_json(json).unwrap();
    assert_eq!((built.bodies[1].name.as_str(), built.bodies[1].mass), ("b1", Some(4.0)));
}
