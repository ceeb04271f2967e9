//! Files that are there whole or not at all.

use crate::Error;
use crate::sink::hidden;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Most names that are tried for a file in the making.
const NAMES: usize = 100;

/// Writes a file so that at any instant, also after a loss of power, the old or the new one is there, whole.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    put(path, bytes, true).map_err(|e| Error::io(path, e))
}

/// Writes a file beside its place, waits until it is on disk, and renames it. Without `replace` a file that is there is refused and stays; with it a link is followed, and what is no
/// file (a pipe, a terminal) is written to.
///
/// # Errors
/// Of the operating system; the place is then as it was.
pub fn put(path: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    let place = match path.symlink_metadata() {
        Ok(_) if !replace => return Err(io::ErrorKind::AlreadyExists.into()),
        Ok(about) if about.is_symlink() => path.canonicalize()?,
        _ => path.to_owned(),
    };
    if place.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return OpenOptions::new().write(true).open(&place)?.write_all(bytes);
    }
    let (made, mut file) = beside(&place)?;
    let permissions = place.metadata().ok().map(|about| about.permissions());
    let written = file.write_all(bytes).and_then(|()| {
        // a file keeps who may read it
        permissions.map_or(Ok(()), |p| file.set_permissions(p))?;
        file.sync_all()
    });
    drop(file);
    let moved = written.and_then(|()| match replace {
        true => fs::rename(&made, &place),
        // a link to a place that is taken fails, where renaming would replace it
        false => match fs::hard_link(&made, &place) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists && !place.exists() => {
                fs::rename(&made, &place)
            }
            linked => linked.and_then(|()| fs::remove_file(&made)),
        },
    });
    if moved.is_err() {
        let _ = fs::remove_file(&made);
        return moved;
    }
    // the name is on disk once its folder is; where folders cannot be opened nothing can be done
    if let Some(folder) = place.parent().map(|f| if f.as_os_str().is_empty() { Path::new(".") } else { f }) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// A new file beside another.
fn beside(place: &Path) -> io::Result<(PathBuf, File)> {
    let mut last = io::ErrorKind::AlreadyExists.into();
    for k in 0..NAMES {
        let mut name = hidden(place).into_os_string();
        name.push(format!(".{}-{k}.part", std::process::id()));
        let made = PathBuf::from(name);
        match OpenOptions::new().write(true).create_new(true).open(&made) {
            Ok(file) => return Ok((made, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("recording-put-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_replaced_when_that_is_asked_for_and_nothing_else_stays() {
        let folder = scratch("replaced");
        let file = folder.join("a.html");
        put(&file, b"one", false).unwrap();
        assert_eq!(put(&file, b"two", false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).unwrap(), b"one");
        put(&file, b"two", true).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        // a folder in its place is refused, and stays
        fs::create_dir(folder.join("b")).unwrap();
        assert!(put(&folder.join("b"), b"x", true).is_err());
        assert!(put(&folder.join("nowhere/c"), b"x", true).is_err());
        let mut names: Vec<_> = folder.read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.html", "b"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_keep_leading_where_they_led_and_devices_are_written_to() {
        use std::os::unix::fs::symlink;
        let folder = scratch("links");
        fs::write(folder.join("target"), "old").unwrap();
        symlink("target", folder.join("link")).unwrap();
        assert!(put(&folder.join("link"), b"new", false).is_err());
        put(&folder.join("link"), b"new", true).unwrap();
        assert_eq!(fs::read(folder.join("target")).unwrap(), b"new");
        assert!(folder.join("link").symlink_metadata().unwrap().is_symlink());
        put(Path::new("/dev/null"), b"x", true).unwrap();
        assert!(!Path::new("/dev/null").symlink_metadata().unwrap().is_file());
        fs::remove_dir_all(folder).unwrap();
    }
}
