//! FCLIB files: the forms of `W`, and what every kind of bad file is told.

use crate::making;

use complementarity::problem::{Friction, FrictionProblem};
use making::{Fclib, W, fault};
use problem_files::{Problem, read_bytes};

fn friction(bytes: &[u8]) -> FrictionProblem {
    match read_bytes("a.hdf5", bytes).unwrap() {
        Problem::Friction(p) => p,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_forms_of_the_matrix_agree() {
    let rows = Fclib::default();
    let columns = Fclib {
        nz: vec![-1],
        p: vec![0, 2, 4, 6, 8],
        i: vec![0, 2, 1, 3, 0, 2, 1, 3],
        x: vec![2.0, -0.5, 3.0, 0.75, 0.5, 4.0, 0.25, 5.0],
        ..rows.clone()
    };
    // 2 = 1.5 + 0.5 is named twice; what follows the first nz entries does not count
    let triplets = Fclib {
        nz: vec![9],
        i: vec![3, 0, 0, 1, 1, 2, 2, 3, 0, -7],
        p: vec![3, 0, 2, 1, 3, 0, 2, 1, 0, 99],
        x: vec![5.0, 1.5, 0.5, 3.0, 0.25, -0.5, 4.0, 0.75, 0.5, f64::NAN],
        ..rows.clone()
    };
    for form in [rows, columns, triplets] {
        let p = friction(&form.bytes());
        assert_eq!(p.matrix().data(), W, "nz = {:?}", form.nz);
        assert_eq!(p.vector(), [-1.0, 0.5, -2.0, 0.0]);
        assert_eq!(p.mu(), [0.3, 0.0]);
        assert_eq!((p.rows_per_contact(), p.contacts(), p.friction()), (Some(2), 2, Some(Friction::Cone)));
    }
}

/// Written by libhdf5 (h5py): the old superblock and symbol tables of the files in the wild, with
/// 3 rows a contact and a compressed, chunked `W/x`.
#[test]
fn file_of_the_c_library_is_read() {
    let p = friction(include_bytes!("data/point_mass.hdf5"));
    assert_eq!((p.rows_per_contact(), p.contacts()), (Some(3), 1));
    assert_eq!(p.matrix().data(), [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]);
    assert_eq!((p.vector(), p.mu()), (&[-1.0, 0.3, 0.0][..], vec![0.4]));
}

#[test]
fn problem_without_contacts_is_read() {
    let none = Fclib {
        m: vec![0],
        n: vec![0],
        nz: vec![0],
        p: vec![],
        i: vec![],
        x: vec![],
        q: vec![],
        mu: vec![],
        ..Fclib::default()
    };
    assert_eq!(friction(&none.bytes()).contacts(), 0);
}

#[test]
fn nzmax_and_info_may_be_absent() {
    friction(&Fclib { without: vec!["nzmax"], ..Fclib::default() }.bytes());
}

fn told(change: impl FnOnce(&mut Fclib)) -> String {
    let mut file = Fclib::default();
    change(&mut file);
    fault("a.hdf5", &file.bytes())
}

#[test]
fn every_missing_part_is_named() {
    for (part, name) in [
        ("spacedim", "spacedim"),
        ("m", "W/m"),
        ("n", "W/n"),
        ("nz", "W/nz"),
        ("p", "W/p"),
        ("i", "W/i"),
        ("x", "W/x"),
        ("W", "W/m"),
        ("q", "vectors/q"),
        ("mu", "vectors/mu"),
    ] {
        assert_eq!(told(|f| f.without = vec![part]), format!("missing dataset '{name}'"));
    }
    assert_eq!(told(|f| f.root = "other"), "missing group 'fclib_local'");
}

#[test]
fn what_is_not_read_yet_is_said() {
    let rolling = "rolling friction (5 rows a contact: a disc of forces and one of moments; the sets here are ellipsoids of both together) is not supported yet";
    assert_eq!(told(|f| f.spacedim = vec![5]), rolling);
    assert_eq!(told(|f| f.mu_r = Some(vec![0.1, 0.1])), rolling);
    assert_eq!(
        told(|f| f.root = "fclib_global_rolling"),
        "rolling friction (group 'fclib_global_rolling') is not supported yet"
    );
}

#[test]
fn friction_sets_are_read_and_bad_ones_named() {
    let of = |sets: &[i32]| Fclib { sets: Some(sets.to_vec()), ..Fclib::default() };
    let p = friction(&of(&[-4, 12]).bytes());
    assert_eq!((p.friction_of(0), p.friction_of(1)), (Friction::Pyramid, Friction::Polygon { sides: 12 }));
    assert_eq!(friction(&of(&[0, 0]).bytes()).friction(), Some(Friction::Cone));
    let p = friction(&Fclib { axes: Some(vec![1.0, 0.5]), ..of(&[0, 1]) }.bytes());
    assert_eq!((p.friction_of(1), p.axes()), (Friction::Ellipsoid, vec![1.0, 0.5]));
    let expected = "expected 0 (disc), 1 (ellipsoid), -4 (square about the disc), or an even number of corners from 4 to 64";
    for bad in [2, 3, 5, 66, -6, i32::MIN] {
        assert_eq!(
            told(|f| f.sets = Some(vec![0, bad])),
            format!("vectors/friction_sets[1] = {bad}, {expected}")
        );
    }
    assert_eq!(told(|f| f.sets = Some(vec![0])), "vectors/friction_sets has 1 entries, expected 2");
    let axes = |axes: &[f64]| told(|f| (f.sets, f.axes) = (Some(vec![0, 1]), Some(axes.to_vec())));
    assert_eq!(axes(&[1.0]), "vectors/friction_axes has 1 entries, expected 2");
    assert_eq!(axes(&[1.0, -0.5]), "vectors/friction_axes[1] = -0.5, expected a finite number >= 0");
    assert_eq!(axes(&[1.0, f64::NAN]), "vectors/friction_axes[1] = NaN, expected a finite number >= 0");
    assert_eq!(told(|f| f.axes = Some(vec![1.0, 1.0])), "missing dataset 'vectors/friction_sets'");
    assert_eq!(told(|f| f.sets = Some(vec![0, 1])), "missing dataset 'vectors/friction_axes'");
    let discs = told(|f| (f.sets, f.axes) = (Some(vec![0, 0]), Some(vec![1.0, f64::NAN])));
    assert_eq!(discs, "vectors/friction_axes[1] = NaN, expected a finite number >= 0");
    let unused = "vectors/friction_axes[0] = 2, expected 1 at a contact whose set is no ellipsoid";
    assert_eq!(axes(&[2.0, 0.5]), unused);
}

#[test]
fn every_bad_number_is_named() {
    assert_eq!(told(|f| f.spacedim = vec![4]), "spacedim = 4, expected 2 or 3");
    assert_eq!(told(|f| f.spacedim = vec![2, 2]), "spacedim has 2 entries, expected 1");
    assert_eq!(told(|f| f.spacedim = vec![3]), "W/m = 4, expected a multiple of 3 (spacedim)");
    assert_eq!(told(|f| f.m = vec![-4]), "W/m = -4, expected a number of rows");
    assert_eq!(told(|f| f.n = vec![5]), "W/n = 5, expected 4 as W/m: a square matrix");
    assert_eq!(
        told(|f| (f.m, f.n) = (vec![20000], vec![20000])),
        "W has 20000 rows, too large: at most 16384 are read"
    );
    assert_eq!(told(|f| f.q.push(0.0)), "vectors/q has 5 entries, expected 4");
    assert_eq!(told(|f| f.mu.push(0.0)), "vectors/mu has 3 entries, expected 2");
    assert_eq!(told(|f| f.q[2] = f64::NAN), "vectors/q[2] = NaN, expected a finite number");
    assert_eq!(told(|f| f.mu[1] = -0.5), "vectors/mu[1] = -0.5, expected a finite number >= 0");
    assert_eq!(told(|f| f.mu[0] = f64::INFINITY), "vectors/mu[0] = inf, expected a finite number >= 0");
    assert_eq!(told(|f| f.x[7] = f64::NAN), "W/x[7] = NaN, expected a finite number");
    assert_eq!(
        told(|f| f.nz = vec![-3]),
        "W/nz = -3, expected -2 (compressed rows), -1 (compressed columns) or a number of triplets"
    );
}

#[test]
fn every_bad_index_is_named() {
    assert_eq!(told(|f| f.i[6] = 4), "W/i[6] = 4, expected a column from 0 to 3");
    assert_eq!(told(|f| f.i[0] = -1), "W/i[0] = -1, expected a column from 0 to 3");
    assert_eq!(told(|f| (f.nz, f.i[6]) = (vec![-1], 4)), "W/i[6] = 4, expected a row from 0 to 3");
    assert_eq!(told(|f| f.p.push(8)), "W/p has 6 entries, expected 5");
    assert_eq!(told(|f| f.p[0] = 1), "W/p[0] = 1, expected 0");
    assert_eq!(told(|f| f.p[2] = 1), "W/p[2] = 1, expected a number from 2 to 8");
    assert_eq!(told(|f| f.p[4] = 9), "W/p[4] = 9, expected a number from 6 to 8");
    assert_eq!(told(|f| f.p[1] = -2), "W/p[1] = -2, expected a number from 0 to 8");
    assert_eq!(told(|f| f.nz = vec![8]), "W/p has 5 entries, expected 8 (W/nz)");
    let triplets = |f: &mut Fclib| (f.nz, f.p) = (vec![8], vec![0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(
        told(|f| {
            triplets(f);
            f.p[3] = 4;
        }),
        "W/p[3] = 4, expected a column from 0 to 3"
    );
    assert_eq!(
        told(|f| {
            triplets(f);
            f.i[3] = 4;
        }),
        "W/i[3] = 4, expected a row from 0 to 3"
    );
    assert_eq!(
        told(|f| {
            triplets(f);
            f.x.pop();
        }),
        "W/x has 7 entries, expected 8 (W/nz)"
    );
    assert_eq!(
        told(|f| {
            (f.i[1], f.x[0], f.x[1]) = (0, 1e308, 1e308);
        }),
        "W[0, 0] = inf, expected a finite sum of its entries"
    );
}

#[test]
fn types_and_shapes_that_mean_nothing_are_named() {
    let with = |build: &dyn Fn(&mut hdf5_pure::FileBuilder)| {
        let mut file = hdf5_pure::FileBuilder::new();
        build(&mut file);
        fault("a.hdf5", &file.finish().unwrap())
    };
    assert_eq!(
        with(&|file| {
            let mut root = file.create_group("fclib_local");
            root.create_dataset("spacedim").with_f64_data(&[3.0]);
            file.add_group(root.finish());
        }),
        "spacedim holds entries of type f64, expected integers"
    );
    assert_eq!(
        with(&|file| {
            let mut root = file.create_group("fclib_local");
            root.create_dataset("spacedim").with_i32_data(&[3, 3]).with_shape(&[2, 1]);
            file.add_group(root.finish());
        }),
        "spacedim has 2 dimensions, expected a vector"
    );
    assert_eq!(
        with(&|file| {
            file.create_dataset("fclib_local").with_f64_data(&[3.0]);
        }),
        "missing group 'fclib_local'"
    );
}

/// The extent of a dataset is raised in its header: the claim is refused, not believed.
#[test]
fn datasets_that_claim_more_than_the_file_are_refused() {
    let good = Fclib { x: vec![7.0; 21], ..Fclib::default() }.bytes();
    // the extent of W/x is the only 21 in the file that is a length in entries
    let places: Vec<usize> = (0..good.len() - 8).filter(|&k| good[k..k + 8] == 21u64.to_le_bytes()).collect();
    let mut refused = 0;
    for &at in &places {
        for claim in [1u64 << 20, 1 << 28, 1 << 40, u64::MAX] {
            let mut file = good.clone();
            file[at..at + 8].copy_from_slice(&claim.to_le_bytes());
            refused += usize::from(read_bytes("a.hdf5", &file).is_err());
        }
    }
    assert!(!places.is_empty() && refused == 4 * places.len());
}

#[test]
fn truncated_files_are_told_so() {
    let good = include_bytes!("data/point_mass.hdf5");
    let line = fault("a.hdf5", &good[..good.len() / 2]);
    assert!(line.starts_with("truncated or damaged "), "{line}");
}
