//! HDF5's B-trees, looked over before hdf5-pure walks them.
//!
//! It descends wherever a node points, so two kinds of hostile file get past its own checks: nodes that share
//! their children (old format, up to 64 levels: the walk doubles with each), and a header that claims up to
//! 65,535 levels (new format: the stack overflows, which nothing can catch). The file is searched for the
//! signatures of such nodes, wherever they stand. FCLIB's files have few links and few chunks, and need
//! neither kind.

use crate::error::Fault;

/// Most leaves that the internal nodes of the old format, all of them on one path, could lead to.
const MOST_PATHS: u64 = 100_000_000;

pub(crate) fn check(bytes: &[u8]) -> Result<(), Fault> {
    let mut paths = 1u64;
    for at in 0..bytes.len().saturating_sub(14) {
        match &bytes[at..at + 14] {
            // node type (0: group, 1: chunks), level, entries used
            [b'T', b'R', b'E', b'E', 0 | 1, 1..=255, low, high, ..] => {
                paths = paths.saturating_mul(u64::from(u16::from_le_bytes([*low, *high])).max(1));
            }
            // version 0, type of records, sizes of nodes and records, depth
            [b'B', b'T', b'H', b'D', 0, 0..=11, _, _, _, _, _, _, low, high] if (*low, *high) != (0, 0) => {
                return Err(Fault::NotSupported("HDF5 indices of several levels (B-tree version 2) are"));
            }
            _ => {}
        }
    }
    match paths {
        ..=MOST_PATHS => Ok(()),
        _ => Err(Fault::NotSupported("HDF5 datasets in so many chunks, or groups of so many links, are")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(depth: u16) -> Vec<u8> {
        let mut bytes = b"\x89HDF..BTHD\x00\x05\x00\x02\x00\x00\x0b\x00".to_vec();
        bytes.extend_from_slice(&depth.to_le_bytes());
        bytes.extend_from_slice(&[0; 20]);
        bytes
    }

    #[test]
    fn new_trees_may_have_a_leaf_only() {
        assert!(check(&header(0)).is_ok());
        assert!(check(&header(1)).is_err());
        assert!(check(&header(u16::MAX)).is_err());
    }

    #[test]
    fn old_trees_may_have_some_internal_nodes() {
        let node = |entries: u16| {
            let mut node = b"TREE\x01\x01".to_vec();
            node.extend_from_slice(&entries.to_le_bytes());
            node.extend_from_slice(&[0; 16]);
            node
        };
        assert!(check(&node(64).repeat(4)).is_ok());
        assert!(check(&node(2).repeat(26)).is_ok());
        assert!(check(&node(2).repeat(27)).is_err());
        assert!(check(&node(u16::MAX).repeat(2)).is_err());
    }
}
