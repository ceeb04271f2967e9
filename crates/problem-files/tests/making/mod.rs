//! Files made for the tests, byte by byte where they must be wrong.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::{Cursor, Write};
use zip::write::{SimpleFileOptions, ZipWriter};

/// `.npy` bytes: a version 1 header as given, then the data.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    npy_text(&format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"), data)
}

pub fn npy_text(header: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

pub fn f8(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub fn matrix(rows: usize, columns: usize, values: &[f64]) -> Vec<u8> {
    npy("'<f8'", false, &format!("({rows}, {columns})"), &f8(values))
}

pub fn vector(values: &[f64]) -> Vec<u8> {
    npy("'<f8'", false, &format!("({},)", values.len()), &f8(values))
}

pub fn booleans(values: &[u8]) -> Vec<u8> {
    npy("'|b1'", false, &format!("({},)", values.len()), values)
}

pub fn number(value: i64) -> Vec<u8> {
    npy("'<i8'", false, "()", &value.to_le_bytes())
}

pub fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    packed_npz(zip::CompressionMethod::Stored, arrays)
}

pub fn packed_npz(method: zip::CompressionMethod, arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    for (name, bytes) in arrays {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// LCP with `M = [[2, 1], [1, 2]]`, `q = (-5, -6)`.
pub fn small_lcp() -> Vec<u8> {
    npz(&[("M", matrix(2, 2, &[2.0, 1.0, 1.0, 2.0])), ("q", vector(&[-5.0, -6.0]))])
}

/// Parts of an FCLIB file; by default two contacts in the plane with an unsymmetric `W`.
#[derive(Clone)]
pub struct Fclib {
    pub root: &'static str,
    pub spacedim: Vec<i32>,
    pub m: Vec<i32>,
    pub n: Vec<i32>,
    pub nz: Vec<i32>,
    pub nzmax: Vec<i32>,
    pub p: Vec<i32>,
    pub i: Vec<i32>,
    pub x: Vec<f64>,
    pub q: Vec<f64>,
    pub mu: Vec<f64>,
    /// Datasets left out.
    pub without: Vec<&'static str>,
    pub mu_r: Option<Vec<f64>>,
    pub sets: Option<Vec<i32>>,
    pub axes: Option<Vec<f64>>,
}

/// Row-major `W` of the default [`Fclib`].
pub const W: [f64; 16] = [
    2.0, 0.0, 0.5, 0.0, //
    0.0, 3.0, 0.0, 0.25, //
    -0.5, 0.0, 4.0, 0.0, //
    0.0, 0.75, 0.0, 5.0,
];

impl Default for Fclib {
    fn default() -> Self {
        Self {
            root: "fclib_local",
            spacedim: vec![2],
            m: vec![4],
            n: vec![4],
            nz: vec![-2],
            nzmax: vec![100],
            p: vec![0, 2, 4, 6, 8],
            i: vec![0, 2, 1, 3, 0, 2, 1, 3],
            x: vec![2.0, 0.5, 3.0, 0.25, -0.5, 4.0, 0.75, 5.0],
            q: vec![-1.0, 0.5, -2.0, 0.0],
            mu: vec![0.3, 0.0],
            without: vec![],
            mu_r: None,
            sets: None,
            axes: None,
        }
    }
}

impl Fclib {
    pub fn bytes(&self) -> Vec<u8> {
        let mut file = hdf5_pure::FileBuilder::new();
        let mut root = file.create_group(self.root);
        let has = |name: &str| !self.without.contains(&name);
        if has("spacedim") {
            root.create_dataset("spacedim").with_i32_data(&self.spacedim);
        }
        if has("W") {
            let mut w = root.create_group("W");
            let integers =
                [("m", &self.m), ("n", &self.n), ("nz", &self.nz), ("nzmax", &self.nzmax), ("p", &self.p)];
            for (name, data) in integers.into_iter().chain([("i", &self.i)]) {
                if has(name) {
                    w.create_dataset(name).with_i32_data(data);
                }
            }
            if has("x") {
                w.create_dataset("x").with_f64_data(&self.x);
            }
            root.add_group(w.finish());
        }
        let mut vectors = root.create_group("vectors");
        if has("q") {
            vectors.create_dataset("q").with_f64_data(&self.q);
        }
        if has("mu") {
            vectors.create_dataset("mu").with_f64_data(&self.mu);
        }
        if let Some(mu_r) = &self.mu_r {
            vectors.create_dataset("mu_r").with_f64_data(mu_r);
        }
        if let Some(sets) = &self.sets {
            vectors.create_dataset("friction_sets").with_i32_data(sets);
        }
        if let Some(axes) = &self.axes {
            vectors.create_dataset("friction_axes").with_f64_data(axes);
        }
        root.add_group(vectors.finish());
        file.add_group(root.finish());
        file.finish().unwrap()
    }
}

/// The one line a bad file is answered with.
pub fn fault(name: &str, bytes: &[u8]) -> String {
    let line = problem_files::read_bytes(name, bytes).expect_err("must not be read").to_string();
    assert!(!line.contains('\n'), "{line:?}");
    assert!(line.starts_with(&format!("{name}: ")), "{line}");
    line[name.len() + 2..].to_owned()
}
