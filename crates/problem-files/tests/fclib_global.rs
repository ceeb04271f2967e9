//! FCLIB's global problems, condensed; and local ones written and read again.

use complementarity::matrix::Matrix;
use complementarity::operator::{BlockMatrix, Operator};
use complementarity::problem::{Element, Friction, FrictionProblem, Mode};
use hdf5_pure::FileBuilder;
use problem_files::{Problem, read, read_bytes, write_friction};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A global file; matrices are dense here, written as triplets, by columns or by rows.
struct Global {
    form: i32,
    m: Matrix,
    h: Matrix,
    g: Option<(Matrix, Vec<f64>)>,
    f: Vec<f64>,
    w: Vec<f64>,
    mu: Vec<f64>,
    dim: i32,
}

impl Global {
    fn bytes(&self) -> Vec<u8> {
        let mut file = FileBuilder::new();
        let mut root = file.create_group("fclib_global");
        root.create_dataset("spacedim").with_i32_data(&[self.dim]);
        let mut matrices = vec![("M", &self.m), ("H", &self.h)];
        matrices.extend(self.g.as_ref().map(|g| ("G", &g.0)));
        for (name, a) in matrices {
            let (mut p, mut i, mut x) = (vec![], vec![], vec![]);
            let by_columns = self.form == -1;
            let lines = if by_columns { a.columns() } else { a.rows() };
            let others = if by_columns { a.rows() } else { a.columns() };
            for line in 0..lines {
                p.push(x.len() as i32);
                for other in 0..others {
                    let value = if by_columns { a[(other, line)] } else { a[(line, other)] };
                    if value != 0.0 {
                        i.push(other as i32);
                        x.push(value);
                    }
                }
            }
            p.push(x.len() as i32);
            if self.form >= 0 {
                // triplets: i the row, p the column
                let rows = (0..lines).flat_map(|l| vec![l as i32; (p[l + 1] - p[l]) as usize]).collect();
                (p, i) = (i, rows);
            }
            let nz = if self.form >= 0 { x.len() as i32 } else { self.form };
            let mut group = root.create_group(name);
            let sizes =
                [("m", a.rows() as i32), ("n", a.columns() as i32), ("nz", nz), ("nzmax", x.len() as i32)];
            for (name, value) in sizes {
                group.create_dataset(name).with_i32_data(&[value]);
            }
            group.create_dataset("p").with_i32_data(&p);
            group.create_dataset("i").with_i32_data(&i);
            group.create_dataset("x").with_f64_data(&x);
            root.add_group(group.finish());
        }
        let mut vectors = root.create_group("vectors");
        vectors.create_dataset("f").with_f64_data(&self.f);
        vectors.create_dataset("w").with_f64_data(&self.w);
        vectors.create_dataset("mu").with_f64_data(&self.mu);
        if let Some((_, b)) = &self.g {
            vectors.create_dataset("b").with_f64_data(b);
        }
        root.add_group(vectors.finish());
        file.add_group(root.finish());
        file.finish().unwrap()
    }

    fn read(&self) -> FrictionProblem {
        match read_bytes("a.hdf5", &self.bytes()).unwrap() {
            Problem::Friction(p) => p,
            other => panic!("{other:?}"),
        }
    }
}

/// Two bodies of 3 speeds with coupled masses; three contacts: on the first, between them, on the second.
fn two_bodies(form: i32, seed: u64) -> Global {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut number = || random.random_range(-1.0..1.0);
    let root = Matrix::from_fn(6, 6, |i, j| if i / 3 == j / 3 { number() } else { 0.0 });
    let m = Matrix::from_fn(6, 6, |i, j| {
        (0..6).map(|k| root[(i, k)] * root[(j, k)]).sum::<f64>() + if i == j { 0.5 } else { 0.0 }
    });
    let h = Matrix::from_fn(6, 6, |i, j| match (i / 3, j / 2) {
        (0, 0 | 1) | (1, 1 | 2) => number(),
        _ => 0.0,
    });
    let f = (0..6).map(|_| number()).collect();
    let w = (0..6).map(|_| number()).collect();
    Global { form, m, h, g: None, f, w, mu: vec![0.3, 0.0, 0.7], dim: 2 }
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), b.columns(), |i, j| (0..b.rows()).map(|k| a[(i, k)] * b[(k, j)]).sum())
}

fn transpose(a: &Matrix) -> Matrix {
    Matrix::from_fn(a.columns(), a.rows(), |i, j| a[(j, i)])
}

#[test]
fn global_problems_are_condensed_body_by_body() {
    for (form, seed) in [(0, 1), (-1, 2), (-2, 3)] {
        let global = two_bodies(form, seed);
        let p = global.read();
        let column = Matrix::from_data(6, 1, global.f.clone()).unwrap();
        let w = product(&transpose(&global.h), &global.m.solve(&global.h).unwrap());
        let q = product(&transpose(&global.h), &global.m.solve(&column).unwrap());
        for i in 0..6 {
            assert!((p.vector()[i] - q[(i, 0)] - global.w[i]).abs() < 1e-12);
            for j in 0..6 {
                assert!((p.matrix()[(i, j)] - w[(i, j)]).abs() < 1e-12, "form {form}, {i}, {j}");
            }
        }
        assert_eq!((p.mu(), p.rows_per_contact(), p.friction()), (global.mu, Some(2), Some(Friction::Cone)));
        // contacts 0 and 2 share no body
        let Operator::Blocks(blocks) = p.operator() else { panic!("blocks") };
        assert_eq!(blocks.row(0).0, [0, 1]);
    }
}

/// A constraint that holds speed 2 of the first body at 0.25: as if that body had two speeds and a given motion.
#[test]
fn bilateral_constraints_are_eliminated() {
    let mut global = two_bodies(-2, 5);
    let mut g = Matrix::zeros(6, 1);
    g[(2, 0)] = 1.0;
    global.g = Some((g, vec![-0.25]));
    let p = global.read();
    // any force, and the speeds that follow from it by hand: rows 0, 1 of the first body with v_2 = 0.25
    let force: Vec<f64> = (0..6).map(|k| f64::from(k).sin()).collect();
    let push = global.h.times(&force);
    let right = Matrix::from_fn(2, 1, |i, _| push[i] + global.f[i] - 0.25 * global.m[(i, 2)]);
    let first = Matrix::from_fn(2, 2, |i, j| global.m[(i, j)]).solve(&right).unwrap();
    let right = Matrix::from_fn(3, 1, |i, _| push[3 + i] + global.f[3 + i]);
    let second = Matrix::from_fn(3, 3, |i, j| global.m[(3 + i, 3 + j)]).solve(&right).unwrap();
    let v = [first[(0, 0)], first[(1, 0)], 0.25, second[(0, 0)], second[(1, 0)], second[(2, 0)]];
    let expected = global.h.transpose_times(&v);
    for (i, found) in p.speed(&force).iter().enumerate() {
        assert!((found - expected[i] - global.w[i]).abs() < 1e-12, "{i}");
    }
}

#[test]
fn bad_global_problems_are_told_in_one_line() {
    let told = |change: &dyn Fn(&mut Global)| {
        let mut global = two_bodies(-2, 7);
        change(&mut global);
        read_bytes("a.hdf5", &global.bytes()).unwrap_err().to_string()
    };
    assert_eq!(
        told(&|g| g.m = Matrix::zeros(6, 6)),
        "a.hdf5: M, with the constraints of G, is singular: its velocities cannot be eliminated"
    );
    assert_eq!(told(&|g| g.m = Matrix::zeros(6, 5)), "a.hdf5: M/n = 5, expected 6 as M/m: a square matrix");
    assert_eq!(told(&|g| g.h = Matrix::zeros(5, 6)), "a.hdf5: H/m = 5, expected 6 as M/m");
    assert_eq!(told(&|g| g.h = Matrix::zeros(6, 5)), "a.hdf5: H/n = 5, expected a multiple of 2 (spacedim)");
    assert_eq!(told(&|g| g.f[3] = f64::NAN), "a.hdf5: vectors/f[3] = NaN, expected a finite number");
    assert_eq!(told(&|g| g.w.push(1.0)), "a.hdf5: vectors/w has 7 entries, expected 6");
    assert_eq!(told(&|g| g.mu[1] = -1.0), "a.hdf5: vectors/mu[1] = -1, expected a finite number >= 0");
}

#[test]
fn friction_problems_are_written_and_read_again() {
    let folder = std::env::temp_dir().join(format!("stiction-write-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for rows in [2, 3] {
        let n = 3 * rows;
        let mut random = Pcg64::seed_from_u64(rows as u64);
        let a = Matrix::from_fn(n, n, |i, j| {
            if i / rows == 0 && j / rows == 2 { 0.0 } else { random.random_range(-1.0..1.0) }
        });
        let b: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
        let blocks = Operator::Blocks(BlockMatrix::from_dense(&a, rows));
        let of = |a: Operator| {
            FrictionProblem::new(a, b.clone(), vec![0.1, 0.0, 2.5], rows, Friction::Cone).unwrap()
        };
        let hexagon = Friction::Polygon { sides: 6 };
        let pyramid = of(blocks.clone()).with_friction(Friction::Pyramid).unwrap();
        let mixed =
            of(a.clone().into()).with_frictions(vec![hexagon, Friction::Ellipsoid, Friction::Cone]).unwrap();
        let axes = (0..n - 3).map(|k| if k / (rows - 1) == 1 { 0.5 + k as f64 } else { 1.0 }).collect();
        let with_axes = mixed.clone().with_axes(axes).unwrap();
        let all = [of(blocks), of(a.into()), pyramid, mixed, with_axes];
        for (k, problem) in all.iter().enumerate() {
            let path = folder.join(format!("{rows}-{k}.hdf5"));
            write_friction(&path, problem).unwrap();
            let Problem::Friction(found) = read(&path).unwrap() else { panic!("a friction problem") };
            assert_eq!(found.matrix(), problem.matrix());
            assert_eq!((found.vector(), found.mu()), (problem.vector(), problem.mu()));
            assert_eq!(found.rows_per_contact(), Some(rows));
            assert_eq!(found.elements(), problem.elements());
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let p = |rows: usize, friction: Friction| {
        FrictionProblem::new(Matrix::identity(rows), vec![0.0; rows], vec![0.5], rows, friction).unwrap()
    };
    let told = |p: &FrictionProblem| write_friction("never.hdf5".as_ref(), p).unwrap_err().to_string();
    assert_eq!(
        told(&p(4, Friction::Cone)),
        "never.hdf5: FCLIB files cannot hold more than 3 rows per contact"
    );
    let contact = |rows: usize| Element::contact(rows, 0.5, Friction::Cone);
    let of = |elements: Vec<Element>| {
        let rows = elements.iter().map(Element::rows).sum();
        told(&FrictionProblem::from_elements(Matrix::identity(rows), vec![0.0; rows], elements).unwrap())
    };
    assert!(of(vec![contact(2), contact(3)]).ends_with("contacts with different numbers of rows"));
    for row in [Element::Unilateral, Element::Bilateral, Element::Bounded { limit: 1.0 }] {
        assert!(of(vec![contact(3), row]).contains("rows that are no contacts"), "{row:?}");
    }
    let slides = p(2, Friction::Pyramid).with_modes(vec![Mode::Sliding { direction: [1.0, 0.0] }]).unwrap();
    assert_eq!(told(&slides), "never.hdf5: FCLIB files cannot hold contacts that slide already");
}
