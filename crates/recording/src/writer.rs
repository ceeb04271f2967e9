//! A recording on its way to disk.

use crate::marker::Old;
use crate::sink::{Sink, hidden, show, write};
use crate::table::Rows;
use crate::{Error, Format, Layout, MARKER};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// At most so much is lost in a crash, unless writing itself is slow.
const SEAL: Duration = Duration::from_secs(2);
/// When the tables are sealed first. Nothing is on disk before, so that short recordings are written once.
const FIRST: Duration = Duration::from_millis(100);
/// Sealing takes at most this share of the time.
const SEAL_SHARE: u32 = 30;

/// Writes a recording. To seal is to put everything so far on disk, so that it can be read.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    layout: Arc<Layout>,
    /// The files of the layout, until they are on disk; and whether another recording is to go then, if there is one.
    files: Option<Vec<Vec<u8>>>,
    replace: bool,
    format: Format,
    /// Held as long as this writes.
    lock: Option<File>,
    sinks: Vec<Sink>,
    /// Files in the making.
    bytes: Vec<u8>,
    /// When the tables were last sealed, and how long until they are again.
    sealed: Instant,
    wait: Duration,
}

impl Writer {
    /// `tables`: no rows yet, some of the layout's tables, maybe without their optional columns. `files`: the bytes of the layout's
    /// files. A folder with something in it is refused, unless that is a recording and `replace` is true, and so is
    /// one that another writer writes. The folder is made, and what it held replaced, at the first seal. Other files in it stay.
    pub fn create(
        folder: &Path,
        layout: &Arc<Layout>,
        tables: Vec<Rows>,
        files: Vec<Vec<u8>>,
        format: Format,
        replace: bool,
    ) -> Result<Self, Error> {
        layout.check(folder, replace, format)?;
        let lock = lock(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            layout: layout.clone(),
            files: Some(files),
            replace,
            format,
            lock,
            sinks: tables.into_iter().map(|rows| Sink::new(folder, rows, format)).collect(),
            bytes: vec![],
            sealed: Instant::now(),
            wait: FIRST,
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The rows of a table that are not in a finished file yet, by its place in the list given to [`Self::create`].
    pub fn rows(&mut self, table: usize) -> &mut Rows {
        &mut self.sinks[table].rows
    }

    /// Whether it is time to seal.
    pub fn is_due(&self, now: Instant) -> bool {
        now - self.sealed >= self.wait
    }

    /// Whether a table has more rows than should be in memory.
    pub fn is_full(&self) -> bool {
        self.sinks.iter().any(Sink::full)
    }

    /// Puts everything so far on disk. What cannot be written whole leaves tables and mark as they were sealed before.
    pub fn seal(&mut self, mark: &[u8]) -> Result<(), Error> {
        let begin = Instant::now();
        let path = self.folder.join(self.layout.mark);
        if let Some(files) = self.files.take() {
            std::fs::create_dir_all(&self.folder).map_err(|e| Error::io(&self.folder, e))?;
            if self.lock.is_none() {
                self.lock = lock(&self.folder)?;
            }
            // another run may have ended here since
            let old = self.layout.check(&self.folder, self.replace, self.format)?;
            let tables: Vec<&str> = self.sinks.iter().map(|s| &*s.rows.table().name).collect();
            begin_files(&self.folder, &self.layout, old.as_ref(), (self.format, &tables))?;
            for (name, bytes) in self.layout.files.iter().zip(&files) {
                let place = self.folder.join(name);
                write(&hidden(&place), bytes)?;
                show(&place)?;
            }
        }
        if let Err(e) = self.prepare(&path, mark) {
            self.sinks.iter_mut().for_each(Sink::withdraw);
            return Err(e);
        }
        self.sinks.iter_mut().try_for_each(Sink::commit)?;
        show(&path)?;
        self.sealed = Instant::now();
        self.wait = SEAL.max(SEAL_SHARE * (self.sealed - begin));
        Ok(())
    }

    /// All files that are to be shown, hidden.
    fn prepare(&mut self, path: &Path, mark: &[u8]) -> Result<(), Error> {
        let Self { sinks, bytes, .. } = self;
        sinks.iter_mut().try_for_each(|s| s.prepare(bytes))?;
        write(&hidden(path), mark)
    }
}

/// Makes a folder the program's, in the place of a recording that was there. The marker lists the new files once the old ones have gone.
pub(crate) fn begin_files(
    folder: &Path,
    layout: &Layout,
    old: Option<&Old>,
    (format, tables): (Format, &[&str]),
) -> Result<(), Error> {
    if let Some(old) = old {
        old.remove()?;
    }
    let place = folder.join(MARKER);
    write(&hidden(&place), &layout.marker(format, tables))?;
    show(&place)
}

/// Claims a folder for one writer until what is returned is dropped, or the process ends in whatever way. `None` where the operating system or the
/// file system knows no such locks.
fn lock(folder: &Path) -> Result<Option<File>, Error> {
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::Busy(folder.to_owned())),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}
