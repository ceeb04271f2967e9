//! NumPy archives: what is read, and what every kind of bad file is told.

use crate::making;

use complementarity::matrix::Matrix;
use complementarity::problem::{BoxedLcp, Lcp, MixedLcp};
use making::{booleans, f8, fault, matrix, npy, npy_text, npz, number, packed_npz, small_lcp, vector};
use problem_files::{Problem, read, read_bytes, write_boxed, write_lcp, write_mixed};
use std::path::PathBuf;

fn lcp(bytes: &[u8]) -> Lcp {
    match read_bytes("a.npz", bytes).unwrap() {
        Problem::Lcp(lcp) => lcp,
        other => panic!("{other:?}"),
    }
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn lcp_survives_writing_and_reading() {
    let m = Matrix::from_fn(37, 37, |i, j| 1.0 / (1.0 + i as f64 * 1.7 + j as f64 / 3.0));
    let problem = Lcp::new(m, (0..37).map(|i| f64::from(i).sin()).collect()).unwrap();
    let path = scratch("round.npz");
    write_lcp(&path, &problem).unwrap();
    assert_eq!(read(&path).unwrap(), Problem::Lcp(problem));
}

#[test]
fn mixed_lcp_survives_writing_and_reading() {
    let m = Matrix::from_fn(3, 3, |i, j| i as f64 - 2.0 * j as f64 + 1e-300);
    let problem = MixedLcp::new(m, vec![1.0, -0.0, 5e-324], vec![true, false, true]).unwrap();
    let path = scratch("round_mixed.npz");
    write_mixed(&path, &problem).unwrap();
    assert_eq!(read(&path).unwrap(), Problem::Mixed(problem));
}

#[test]
fn boxed_lcp_survives_writing_and_reading() {
    let m = Matrix::from_fn(3, 3, |i, j| i as f64 - 2.0 * j as f64);
    let (l, u) = (vec![0.0, f64::NEG_INFINITY, -1.5], vec![f64::INFINITY, 2.0, -1.5]);
    let problem = BoxedLcp::new(m, vec![1.0, -0.0, 3.0], l, u).unwrap();
    let path = scratch("round_boxed.npz");
    write_boxed(&path, &problem).unwrap();
    assert_eq!(read(&path).unwrap(), Problem::Boxed(problem));
}

/// Without `u` there are no upper bounds; crossed bounds, and `comp` beside them, are refused by name.
#[test]
fn bounds_may_be_absent_but_not_wrong() {
    let parts = |more: Vec<(&str, Vec<u8>)>| {
        let m = matrix(2, 2, &[1.0, 0.0, 0.0, 1.0]);
        let mut all = vec![("M", m), ("q", vector(&[1.0, 2.0]))];
        all.extend(more);
        npz(&all)
    };
    let Problem::Boxed(p) = read_bytes("a", &parts(vec![("l", vector(&[0.0, -3.0]))])).unwrap() else {
        panic!()
    };
    assert_eq!((p.lower(), p.upper()), (&[0.0, -3.0][..], &[f64::INFINITY; 2][..]));
    let crossed = parts(vec![("l", vector(&[0.0, 4.0])), ("u", vector(&[1.0, 1.0]))]);
    let line = read_bytes("a", &crossed).unwrap_err().to_string();
    assert!(line.contains("u[1] = 1, expected at least l of the same row"), "{line}");
    let both = parts(vec![("l", vector(&[0.0, 0.0])), ("comp", booleans(&[0, 1]))]);
    let line = read_bytes("a", &both).unwrap_err().to_string();
    assert!(line.contains("comp") && line.contains("beside"), "{line}");
}

#[test]
fn writing_to_a_folder_that_is_not_there_is_one_line() {
    let path = scratch("nowhere/a.npz");
    let line = write_lcp(&path, &Lcp::new(Matrix::identity(1), vec![1.0]).unwrap()).unwrap_err().to_string();
    assert!(line.starts_with(&path.display().to_string()) && line.contains("No such file"), "{line}");
}

#[test]
fn all_types_orders_and_compressions_give_one_matrix() {
    let expected = Lcp::new(Matrix::from_rows(&[&[2.0, 1.0], &[-3.0, 4.0]]), vec![-5.0, 6.0]).unwrap();
    let row_major = [2i8, 1, -3, 4];
    let column_major = [2i8, -3, 1, 4];
    let q = vector(&[-5.0, 6.0]);
    macro_rules! with_type {
        ($descr:literal, $type:ty, $bytes:ident) => {
            for (fortran, values) in [(false, row_major), (true, column_major)] {
                let data: Vec<u8> = values.iter().flat_map(|&x| <$type>::from(x).$bytes()).collect();
                let m = npy($descr, fortran, "(2, 2)", &data);
                assert_eq!(lcp(&npz(&[("M", m), ("q", q.clone())])), expected, $descr);
            }
        };
    }
    with_type!("'<f8'", f64, to_le_bytes);
    with_type!("'>f8'", f64, to_be_bytes);
    with_type!("'<f4'", f32, to_le_bytes);
    with_type!("'>f4'", f32, to_be_bytes);
    with_type!("'|i1'", i8, to_le_bytes);
    with_type!("'<i2'", i16, to_le_bytes);
    with_type!("'>i4'", i32, to_be_bytes);
    with_type!("'<i8'", i64, to_le_bytes);
    with_type!("'>i8'", i64, to_be_bytes);

    let unsigned = npy("'>u2'", false, "(2,)", &[1, 0, 0xff, 0xff]);
    let read = lcp(&npz(&[("M", matrix(2, 2, &[2.0, 1.0, -3.0, 4.0])), ("q", unsigned)]));
    assert_eq!(read.vector(), [256.0, 65535.0]);

    let packed = packed_npz(
        zip::CompressionMethod::Deflated,
        &[("M", matrix(2, 2, &[2.0, 1.0, -3.0, 4.0])), ("q", q), ("note", b"whatever".to_vec())],
    );
    assert_eq!(lcp(&packed), expected);
}

#[test]
fn headers_of_other_versions_and_spellings_are_read() {
    let data = f8(&[1.0, 2.0]);
    let header = "{\"shape\": (2L, ), 'fortran_order': False, 'descr': '<f8'}\n";
    let m = || matrix(2, 2, &[1.0, 0.0, 0.0, 1.0]);
    assert_eq!(lcp(&npz(&[("M", m()), ("q", npy_text(header, &data))])).vector(), [1.0, 2.0]);
    for version in [2, 3] {
        let mut q = b"\x93NUMPY".to_vec();
        q.extend_from_slice(&[version, 0]);
        q.extend_from_slice(&(header.len() as u32).to_le_bytes());
        q.extend_from_slice(header.as_bytes());
        q.extend_from_slice(&data);
        assert_eq!(lcp(&npz(&[("M", m()), ("q", q)])).vector(), [1.0, 2.0]);
    }
}

#[test]
fn problem_without_rows_is_read() {
    assert_eq!(lcp(&npz(&[("M", matrix(0, 0, &[])), ("q", vector(&[]))])).size(), 0);
}

#[test]
fn comp_makes_it_mixed_and_counts_must_agree() {
    let arrays = |comp: Vec<u8>, n: i64, m: i64| {
        npz(&[
            ("M", matrix(2, 2, &[1.0, 0.0, 0.0, 1.0])),
            ("q", vector(&[1.0, 2.0])),
            ("comp", comp),
            ("n", number(n)),
            ("m", number(m)),
        ])
    };
    let Problem::Mixed(p) = read_bytes("a", &arrays(booleans(&[0, 1]), 1, 1)).unwrap() else { panic!() };
    assert_eq!(p.complementary(), [false, true]);
    let told = |bytes: Vec<u8>| fault("a.npz", &bytes);
    assert_eq!(told(arrays(booleans(&[0, 1]), 2, 1)), "n = 2, expected 1, the equalities in 'comp'");
    assert_eq!(told(arrays(booleans(&[0, 1]), 1, 0)), "m = 0, expected 1, the complementarities in 'comp'");
    assert_eq!(told(arrays(booleans(&[0, 1, 1]), 1, 1)), "comp has 3 entries, expected 2");
    assert_eq!(
        told(arrays(booleans(&[0, 7]), 1, 1)),
        "comp[1] = 7, expected 0 (equality) or 1 (complementarity)"
    );
    assert_eq!(
        told(arrays(vector(&[0.0, 1.0]), 1, 1)),
        "comp holds floating-point numbers, expected booleans (true: complementarity, false: equality)"
    );
    let mut counts = npz(&[
        ("M", matrix(1, 1, &[1.0])),
        ("q", vector(&[1.0])),
        ("comp", booleans(&[1])),
        ("n", vector(&[0.0, 0.0])),
    ]);
    assert_eq!(told(counts), "n has shape (2,), expected a single number");
    let huge = npy("'<i8'", false, "(4611686018427387904, 4)", &[]);
    counts =
        npz(&[("M", matrix(1, 1, &[1.0])), ("q", vector(&[1.0])), ("comp", booleans(&[1])), ("n", huge)]);
    assert_eq!(told(counts), "n has shape (4611686018427387904, 4), expected a single number");
}

#[test]
fn every_bad_part_is_named() {
    let eye = || matrix(2, 2, &[1.0, 0.0, 0.0, 1.0]);
    let q = || vector(&[1.0, 2.0]);
    let with = |m: Vec<u8>, q: Vec<u8>| fault("a.npz", &npz(&[("M", m), ("q", q)]));
    let m = |m: Vec<u8>| with(m, q());
    assert_eq!(fault("a.npz", &npz(&[("M", eye())])), "missing array 'q'");
    assert_eq!(fault("a.npz", &npz(&[("q", q())])), "missing array 'M'");
    assert_eq!(fault("a.npz", &npz(&[])), "missing array 'M'");
    assert_eq!(with(eye(), vector(&[1.0, 2.0, 3.0])), "q has 3 entries, expected 2");
    assert_eq!(with(eye(), matrix(2, 1, &[1.0, 2.0])), "q has shape (2, 1), expected (2,)");
    assert_eq!(m(matrix(2, 3, &[0.0; 6])), "M has shape (2, 3), expected a square matrix");
    assert_eq!(m(vector(&[0.0; 4])), "M has shape (4,), expected a square matrix");
    assert_eq!(m(number(4)), "M has shape (), expected a square matrix");
    assert_eq!(m(matrix(2, 2, &[1.0, 0.0, f64::NAN, 1.0])), "M[1, 0] = NaN, expected a finite number");
    assert_eq!(m(matrix(2, 2, &[1.0, f64::INFINITY, 0.0, 1.0])), "M[0, 1] = inf, expected a finite number");
    let fortran = npy("'<f8'", true, "(2, 2)", &f8(&[1.0, 0.0, f64::NAN, 1.0]));
    assert_eq!(m(fortran), "M[0, 1] = NaN, expected a finite number");
    assert_eq!(with(eye(), vector(&[1.0, f64::NEG_INFINITY])), "q[1] = -inf, expected a finite number");
}

#[test]
fn unknown_types_are_named() {
    let m = |descr: &str| {
        let m = npy(descr, false, "(2, 2)", &[0; 64]);
        fault("a.npz", &npz(&[("M", m), ("q", vector(&[1.0, 2.0]))]))
    };
    let expected = "expected booleans, integers or floating-point numbers of 4 or 8 bytes";
    for descr in ["<c16", "<U3", "|O", "<f2", "<f16", "<i3", "?", "", "<f", "<f8 "] {
        assert_eq!(m(&format!("'{descr}'")), format!("M holds entries of type {descr}, {expected}"));
    }
    let record = "[('a', '<f8'), ('b', '<i4')]";
    assert_eq!(m(record), format!("M holds entries of type {record}, {expected}"));
}

#[test]
fn headers_that_make_no_sense_are_damage() {
    let with = |m: Vec<u8>| fault("a.npz", &npz(&[("M", m), ("q", vector(&[1.0, 2.0]))]));
    assert_eq!(with(vec![]), "truncated or damaged array 'M': the data ends early");
    assert_eq!(with(b"\x93NUMPX\x01\x00aa".to_vec()), "truncated or damaged array 'M': no NumPy signature");
    assert_eq!(
        with(b"\x93NUMPY\x09\x00aa".to_vec()),
        "truncated or damaged array 'M': unknown format version 9"
    );
    assert_eq!(
        with(b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec()),
        "truncated or damaged array 'M': a header of 4294967295 bytes"
    );
    for header in [
        "",
        "{",
        "{}",
        "{'descr'}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, -2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 99999999999999999999999)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 4}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)} and more",
        "{'descr': '<f8\n",
    ] {
        let told = with(npy_text(header, &[0; 32]));
        assert!(told.starts_with("truncated or damaged array 'M': header "), "{header}: {told}");
    }
}

#[test]
fn claims_beyond_the_data_or_the_limits_are_refused_before_allocation() {
    let m = |shape: &str, data: &[u8]| {
        let m = npy("'<f8'", false, shape, data);
        fault("a.npz", &npz(&[("M", m), ("q", vector(&[1.0, 2.0]))]))
    };
    assert_eq!(m("(16385, 16385)", &[]), "M has 16385 rows, too large: at most 16384 are read");
    let vast = "9223372036854775807";
    assert_eq!(
        m(&format!("({vast}, {vast})"), &[]),
        format!("M has {vast} rows, too large: at most 16384 are read")
    );
    let told = m("(16384, 16384)", &[0; 32]);
    assert!(told.starts_with("M claims 2147483648 bytes, the file holds "), "{told}");
    assert_eq!(m("(3, 3)", &[0; 16]), "M claims 72 bytes, the file holds 16");
    assert_eq!(m("(2, 2)", &[0; 31]), "M claims 32 bytes, the file holds 31");
    assert_eq!(m("(2, 2)", &[0; 40]), "truncated or damaged array 'M': data beyond the last entry");
}

#[test]
fn damaged_archives_are_told_so() {
    let good = small_lcp();
    let told = fault("a.npz", &good[..good.len() / 2]);
    assert!(told.starts_with("truncated or damaged archive: "), "{told}");
    // an entry of M altered: the check sum notices
    let mut altered = good.clone();
    let at = good.windows(8).position(|w| w == 2f64.to_le_bytes()).unwrap();
    altered[at + 6] ^= 1;
    assert_eq!(fault("a.npz", &altered), "truncated or damaged array 'M': Invalid checksum");
    // compression method of M (local and central record) unknown
    let mut method = good;
    let central = method.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    method[8] = 14;
    method[central + 10] = 14;
    assert_eq!(fault("a.npz", &method), "compression other than deflate is not supported yet");
}

#[test]
fn files_of_no_known_kind_are_told_so() {
    assert_eq!(fault("a.npz", b""), "the file is empty");
    let kinds = "expected a NumPy archive (.npz) or an FCLIB file (HDF5)";
    assert_eq!(fault("a.npz", b"M = [1]"), format!("an unknown kind of file, {kinds}"));
    assert_eq!(fault("a.npz", &vector(&[1.0])), format!("a single NumPy array (.npy), {kinds}"));
    assert_eq!(fault("a.hdf5", b"\x89HDF"), format!("truncated within its first bytes, {kinds}"));
    let odd = fault("a.npz", &[0; 5000]);
    assert_eq!(odd, format!("an unknown kind of file, {kinds}"));
    // the name says HDF5, the content says archive
    assert!(matches!(read_bytes("b.hdf5", &small_lcp()), Ok(Problem::Lcp(_))));
}

#[test]
fn names_with_line_breaks_stay_on_one_line() {
    assert_eq!(read_bytes("a\nb.npz", b"").unwrap_err().to_string(), "a\\nb.npz: the file is empty");
}

#[test]
fn unreadable_paths_are_one_line() {
    let told = |path: PathBuf| {
        let line = read(&path).unwrap_err().to_string();
        line.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    assert!(told(scratch("absent.npz")).starts_with("No such file"));
    let folder = scratch("folder.npz");
    std::fs::create_dir_all(&folder).unwrap();
    assert!(told(folder).contains("directory"));
    let empty = scratch("empty.npz");
    std::fs::write(&empty, b"").unwrap();
    assert_eq!(told(empty), "the file is empty");
    // sparse: takes no room on the disk, and is refused unread
    let vast = scratch("vast.npz");
    let file = std::fs::File::create(&vast).unwrap();
    std::io::Write::write_all(&mut &file, b"PK\x03\x04").unwrap();
    file.set_len(problem_files::MOST_BYTES + 1).unwrap();
    let line = told(vast.clone());
    std::fs::remove_file(vast).unwrap();
    assert_eq!(line, "the file has 4294967297 bytes, too large: at most 4294967296 are read");
}
