//! Damaged files end in an error, never in a panic.

use crate::making;

use making::{Fclib, booleans, matrix, npz, number, packed_npz, small_lcp, vector};
use problem_files::read_bytes;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn seeds() -> Vec<Vec<u8>> {
    let mixed = [
        ("M", matrix(2, 2, &[1.0, 0.5, 0.0, 1.0])),
        ("q", vector(&[1.0, 2.0])),
        ("comp", booleans(&[0, 1])),
        ("n", number(1)),
        ("m", number(1)),
    ];
    vec![
        small_lcp(),
        npz(&mixed),
        packed_npz(zip::CompressionMethod::Deflated, &mixed),
        Fclib::default().bytes(),
        include_bytes!("data/point_mass.hdf5").to_vec(),
    ]
}

/// Whatever comes back must come back, and an error must be one line.
fn survives(bytes: &[u8]) -> bool {
    match read_bytes("file", bytes) {
        Ok(_) => true,
        Err(e) => {
            let line = e.to_string();
            assert!(line.starts_with("file: ") && !line.contains('\n'), "{line:?}");
            false
        }
    }
}

#[test]
fn every_prefix_is_survived() {
    for seed in seeds() {
        assert!(survives(&seed));
        // files of some kilobytes are mostly padding: every prefix of the dense parts, some of the rest
        let step = 1 + seed.len() / 4000;
        for end in (0..seed.len()).step_by(step) {
            survives(&seed[..end]);
        }
    }
}

#[test]
fn altered_bytes_are_survived() {
    let mut random = Pcg64::seed_from_u64(2004);
    for seed in seeds() {
        for _ in 0..4000 {
            let mut bytes = seed.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = match random.random_range(0..4) {
                    0 => 0,
                    1 => 0xff,
                    2 => bytes[at] ^ (1 << random.random_range(0..8)),
                    _ => random.random(),
                };
            }
            survives(&bytes);
        }
    }
}

/// Numbers of the file structure, widened to absurd values where they stand.
#[test]
fn absurd_lengths_and_addresses_are_survived() {
    for seed in seeds() {
        for at in (0..seed.len() - 8).step_by(1 + seed.len() / 3000) {
            for width in [2, 4, 8] {
                for fill in [0x00, 0x7f, 0xff] {
                    let mut bytes = seed.clone();
                    bytes[at..at + width].fill(fill);
                    survives(&bytes);
                }
            }
        }
    }
}

#[test]
fn noise_behind_a_good_signature_is_survived() {
    let mut random = Pcg64::seed_from_u64(1995);
    for signature in [&b"PK\x03\x04"[..], b"\x89HDF\r\n\x1a\n"] {
        for _ in 0..2000 {
            let mut bytes = signature.to_vec();
            bytes.extend((0..random.random_range(0..600)).map(|_| random.random::<u8>()));
            assert!(!survives(&bytes));
        }
    }
}

/// The group's B-tree is put below 60 nodes that name each their one child twice: 2^60 ways to the leaf.
#[test]
fn tree_whose_nodes_share_their_children_is_refused_at_once() {
    let mut bytes = include_bytes!("data/point_mass.hdf5").to_vec();
    let root = bytes.windows(4).position(|w| w == b"TREE").unwrap() as u64;
    let first = bytes.len() as u64;
    for at in 0..bytes.len() - 8 {
        if bytes[at..at + 8] == root.to_le_bytes() {
            bytes[at..at + 8].copy_from_slice(&first.to_le_bytes());
        }
    }
    let node = 64;
    for k in 0..60 {
        let child = if k == 59 { root } else { first + node * (k + 1) };
        bytes.extend_from_slice(b"TREE\x00\x01\x02\x00");
        // siblings (none), then key, child, key, child, key
        for word in [u64::MAX, u64::MAX, 0, child, 0, child, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    let line = read_bytes("bomb", &bytes).unwrap_err().to_string();
    assert_eq!(
        line,
        "bomb: HDF5 datasets in so many chunks, or groups of so many links, are not supported yet"
    );
}
