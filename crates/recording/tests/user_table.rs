//! Tables that a caller defines, written and read by this crate alone.
#![allow(clippy::unwrap_used, reason = "tests")]

use recording::{Column, Error, Format, Kind, Layout, MARKER, Recording, Rows, Table, Writer};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn column(name: &'static str, kind: Kind, unit: &'static str) -> Column {
    Column { name: name.into(), kind, unit: unit.into(), optional: false }
}

/// Temperatures of places, with a note where there is one.
fn layout(more: Option<Column>) -> Arc<Layout> {
    let mut columns = vec![
        column("hour", Kind::Number, "h"),
        column("place", Kind::Word, ""),
        column("readings", Kind::Count, ""),
        column("temperature", Kind::Number, "K"),
    ];
    columns.extend(more);
    let weather = Table { name: "weather".into(), columns };
    let (tables, files) = (vec![Arc::new(weather)], vec!["station.txt"]);
    let is_mark = |bytes: &[u8]| [&b"noon"[..], b"night"].contains(&bytes);
    Arc::new(Layout { tables, files, mark: "last.txt", program: "weather", is_mark })
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn writer(folder: &Path, layout: &Arc<Layout>, format: Format, replace: bool) -> Result<Writer, Error> {
    let rows = Rows::new(&layout.tables[0]);
    Writer::create(folder, layout, vec![rows], vec![b"hill".to_vec()], format, replace)
}

fn push(rows: &mut Rows, k: usize) {
    rows.push_number(k as f64).push_word(["hill, north", "lake"][k % 2]);
    rows.push_count(3 * k).push_number(280.0 + 0.1 * k as f64);
}

#[test]
fn a_table_of_ones_own_reads_back_in_both_formats() {
    let layout = layout(None);
    let mut read = vec![];
    for format in Format::ALL {
        let folder = scratch(&format!("own-{format:?}"));
        let mut writer = writer(&folder, &layout, format, false).unwrap();
        (0..100).for_each(|k| push(writer.rows(0), k));
        assert!(!folder.exists());
        writer.seal(b"noon").unwrap();
        let recording = Recording::open(&folder, &layout).unwrap();
        assert_eq!((recording.format(), recording.tables().collect::<Vec<_>>()), (format, vec!["weather"]));
        assert_eq!(recording.file("station.txt").unwrap(), b"hill");
        assert_eq!(recording.file("last.txt").unwrap(), b"noon");
        let rows = recording.read("weather").unwrap();
        assert_eq!((rows.len(), rows.columns()), (100, &layout.tables[0].columns[..]));
        assert_eq!(rows.numbers("temperature")[7].to_bits(), (280.0 + 0.1 * 7.0f64).to_bits());
        assert_eq!((rows.counts("readings")[7], rows.words("place").nth(6)), (21, Some("hill, north")));
        assert!(matches!(recording.read("tides"), Err(Error::NoTable { .. })));
        read.push(rows);
    }
    assert_eq!(read[0], read[1]);
}

#[test]
fn columns_are_found_by_name_and_unknown_ones_are_kept() {
    let wider = layout(Some(column("wind", Kind::Number, "m/s")));
    for (format, other) in [(Format::Parquet, Format::Csv), (Format::Csv, Format::Parquet)] {
        let (folder, export) = (scratch(&format!("wide-{format:?}")), scratch(&format!("export-{format:?}")));
        let mut writer = writer(&folder, &wider, format, false).unwrap();
        for k in 0..3 {
            push(writer.rows(0), k);
            writer.rows(0).push_number(2.5 * k as f64);
        }
        writer.seal(b"").unwrap();
        // a reader that does not know the wind
        let recording = Recording::open(&folder, &layout(None)).unwrap();
        let rows = recording.read("weather").unwrap();
        let unknown = &rows.columns()[4];
        match format {
            // text does not say what it is
            Format::Csv => {
                assert_eq!(unknown.kind, Kind::Word);
                assert_eq!(rows.words("wind").collect::<Vec<_>>(), ["0.0", "2.5", "5.0"]);
            }
            Format::Parquet => {
                assert_eq!((unknown.kind, &*unknown.unit), (Kind::Number, "m/s"));
                assert_eq!(rows.numbers("wind"), [0.0, 2.5, 5.0]);
            }
        }
        recording.export(&export, other, false).unwrap();
        let exported = Recording::open(&export, &layout(None)).unwrap().read("weather").unwrap();
        assert_eq!((exported.len(), exported.columns().len()), (3, 5));
        // one that expects more than there is
        let rain = column("rain", Kind::Number, "mm");
        let strict = Recording::open(&folder, &layout(Some(rain.clone()))).unwrap().read("weather");
        assert!(strict.unwrap_err().to_string().contains("expected a column \"rain\""));
        let lenient = layout(Some(Column { optional: true, ..rain }));
        let rows = Recording::open(&folder, &lenient).unwrap().read("weather").unwrap();
        assert!(rows.len() == 3 && rows.numbers("rain").is_empty());
    }
}

#[test]
fn the_order_of_columns_in_a_file_does_not_matter() {
    let folder = scratch("order");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("weather.csv"), "place,temperature,hour,readings\nlake,281.5,3,7\n").unwrap();
    let rows = Recording::open(&folder, &layout(None)).unwrap().read("weather").unwrap();
    assert_eq!((rows.numbers("hour"), rows.numbers("temperature")), (&[3.0][..], &[281.5][..]));
    assert_eq!((rows.counts("readings"), rows.words("place").next()), (&[7][..], Some("lake")));
}

#[test]
fn nothing_of_an_old_recording_goes_before_there_is_a_new_one() {
    let (folder, layout) = (scratch("replaced"), layout(None));
    let start = |format, replace| {
        let mut writer = writer(&folder, &layout, format, replace).unwrap();
        push(writer.rows(0), 0);
        writer
    };
    let mut first = start(Format::Parquet, false);
    assert!(!folder.exists());
    first.seal(b"1").unwrap();
    drop(first);
    let found = || {
        let recording = Recording::open(&folder, &layout).unwrap();
        (recording.format(), recording.read("weather").unwrap().len(), recording.file("last.txt").unwrap())
    };
    assert!(matches!(writer(&folder, &layout, Format::Csv, false), Err(Error::Exists(_))));
    let mut second = start(Format::Csv, true);
    assert_eq!(found(), (Format::Parquet, 1, b"1".to_vec()));
    second.seal(b"2").unwrap();
    drop(second);
    assert_eq!(found(), (Format::Csv, 1, b"2".to_vec()));
    // files of others are safe
    fs::write(folder.join("thesis.csv"), "years of work").unwrap();
    start(Format::Parquet, true).seal(b"3").unwrap();
    assert_eq!(found().0, Format::Parquet);
    assert!(folder.join("thesis.csv").is_file() && !folder.join("weather.csv").exists());
    fs::remove_file(folder.join(MARKER)).unwrap();
    fs::remove_file(folder.join("station.txt")).unwrap();
    assert!(matches!(writer(&folder, &layout, Format::Csv, true), Err(Error::Foreign(_))));
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        folder.read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder with a user's own files under the names of a recording's: nothing of it is touched, whatever is asked for.
#[test]
fn what_the_program_did_not_write_is_never_replaced() {
    let layout = layout(None);
    let own = [("station.txt", "my station"), ("weather.csv", "day,rain\n1,0\n"), ("last.txt", "noon")];
    for kept in 1..8usize {
        let folder = scratch(&format!("foreign-{kept}"));
        fs::create_dir_all(&folder).unwrap();
        let some: Vec<_> =
            own.iter().enumerate().filter(|(k, _)| kept >> k & 1 == 1).map(|(_, f)| *f).collect();
        for (name, text) in &some {
            fs::write(folder.join(name), text).unwrap();
        }
        for format in Format::ALL {
            assert!(matches!(writer(&folder, &layout, format, true), Err(Error::Foreign(_))), "{some:?}");
        }
        let source = scratch(&format!("foreign-source-{kept}"));
        writer(&source, &layout, Format::Csv, false).unwrap().seal(b"noon").unwrap();
        let export = Recording::open(&source, &layout).unwrap().export(&folder, Format::Csv, true);
        assert!(matches!(export, Err(Error::Foreign(_))), "{some:?}");
        for (name, text) in &some {
            assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), *text);
        }
        assert_eq!(names(&folder).len(), some.len());
    }
}

/// A user's table beside a recording: the recording is replaced, the table stays, and is not written over.
#[test]
fn only_the_tables_that_the_marker_lists_go() {
    let (folder, layout) = (scratch("listed"), layout(None));
    writer(&folder, &layout, Format::Parquet, false).unwrap().seal(b"noon").unwrap();
    fs::write(folder.join("weather.csv"), "my own").unwrap();
    writer(&folder, &layout, Format::Parquet, true).unwrap().seal(b"night").unwrap();
    assert_eq!(fs::read_to_string(folder.join("weather.csv")).unwrap(), "my own");
    let refused = writer(&folder, &layout, Format::Csv, true);
    assert!(
        matches!(refused, Err(Error::InTheWay(ref file)) if file.ends_with("weather.csv")),
        "{refused:?}"
    );
    assert_eq!(names(&folder), ["last.txt", MARKER, "station.txt", "weather.csv", "weather.parquet"]);
}

/// Recordings from before there was a marker, in both formats; and one that was cut short when it began.
#[test]
fn older_recordings_are_known_by_what_they_contain() {
    let layout = layout(None);
    for format in Format::ALL {
        let folder = scratch(&format!("older-{format:?}"));
        let make = |replace| {
            let mut writer = writer(&folder, &layout, format, replace)?;
            push(writer.rows(0), 0);
            writer.seal(b"noon")
        };
        make(false).unwrap();
        fs::remove_file(folder.join(MARKER)).unwrap();
        assert!(matches!(make(false), Err(Error::Exists(_))));
        make(true).unwrap();
        assert!(folder.join(MARKER).is_file());
        fs::remove_file(folder.join(MARKER)).unwrap();
        fs::write(folder.join("last.txt"), "what a user wrote").unwrap();
        assert!(matches!(make(true), Err(Error::Foreign(_))));
        let begun = scratch(&format!("begun-{format:?}"));
        fs::create_dir_all(&begun).unwrap();
        fs::write(begun.join(".last.txt"), "noon").unwrap();
        writer(&begun, &layout, format, true).unwrap().seal(b"noon").unwrap();
        assert!(!names(&begun).contains(&".last.txt".to_owned()));
    }
}

/// Links in a recording's folder lead to files of others: these stay as they are.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let layout = layout(None);
    let outside = scratch("outside");
    fs::create_dir_all(&outside).unwrap();
    let precious = outside.join("precious");
    for format in Format::ALL {
        let folder = scratch(&format!("links-{format:?}"));
        let make = |replace| writer(&folder, &layout, format, replace).and_then(|mut w| w.seal(b"noon"));
        make(false).unwrap();
        for name in ["station.txt", "last.txt", MARKER, ".station.txt", ".last.txt"] {
            let before = fs::read(folder.join(name)).unwrap_or_default();
            fs::write(&precious, &before).unwrap();
            let _ = fs::remove_file(folder.join(name));
            symlink(&precious, folder.join(name)).unwrap();
            // a marker or a table that is a link says nothing about the folder
            let _ = make(true);
            assert_eq!(fs::read(&precious).unwrap(), before, "{name}");
            if folder.join(name).symlink_metadata().is_ok_and(|about| about.is_symlink()) {
                fs::remove_file(folder.join(name)).unwrap();
                fs::write(folder.join(name), &before).unwrap();
            }
        }
        let table = folder.join(if format == Format::Csv { "weather.csv" } else { "weather.parquet" });
        fs::rename(&table, &precious).unwrap();
        symlink(&precious, &table).unwrap();
        let before = fs::read(&precious).unwrap();
        assert!(matches!(make(true), Err(Error::InTheWay(_))));
        assert_eq!(fs::read(&precious).unwrap(), before);
    }
}

#[test]
fn two_writers_of_one_folder_are_refused() {
    let layout = layout(None);
    let folder = scratch("busy");
    let mut first = writer(&folder, &layout, Format::Parquet, false).unwrap();
    // both began when there was nothing
    let mut second = writer(&folder, &layout, Format::Parquet, true).unwrap();
    push(first.rows(0), 0);
    first.seal(b"noon").unwrap();
    assert!(matches!(second.seal(b"noon"), Err(Error::Busy(_))));
    assert!(matches!(writer(&folder, &layout, Format::Parquet, true), Err(Error::Busy(_))));
    assert_eq!(Recording::open(&folder, &layout).unwrap().read("weather").unwrap().len(), 1);
    // one that began before the first ended finds its recording
    let late = scratch("late");
    let mut early = writer(&late, &layout, Format::Parquet, false).unwrap();
    let mut third = writer(&late, &layout, Format::Parquet, false).unwrap();
    early.seal(b"noon").unwrap();
    drop(early);
    assert!(matches!(third.seal(b"night"), Err(Error::Exists(_))));
    drop(first);
    writer(&folder, &layout, Format::Parquet, true).unwrap().seal(b"night").unwrap();
}

/// A folder in the place of a table's next file stands for a disk that is full: it cannot be written.
#[test]
fn what_cannot_be_written_leaves_tables_and_mark_that_agree() {
    let two = |layout: &Layout| {
        let mut tables = layout.tables.clone();
        tables.push(Arc::new(Table { name: "winds".into(), columns: tables[0].columns.clone() }));
        Arc::new(Layout { tables, ..layout.clone() })
    };
    let layout = two(&layout(None));
    for format in Format::ALL {
        let folder = scratch(&format!("full-{format:?}"));
        let tables = layout.tables.iter().map(Rows::new).collect();
        let mut writer =
            Writer::create(&folder, &layout, tables, vec![b"hill".to_vec()], format, false).unwrap();
        let fill = |writer: &mut Writer| {
            for table in 0..2 {
                (0..10).for_each(|k| push(writer.rows(table), k));
            }
        };
        fill(&mut writer);
        writer.seal(b"noon").unwrap();
        fill(&mut writer);
        let next = folder.join(if format == Format::Csv { ".last.txt" } else { ".winds.parquet" });
        fs::create_dir(&next).unwrap();
        assert!(matches!(writer.seal(b"night"), Err(Error::Io { .. })));
        drop(writer);
        let recording = Recording::open(&folder, &layout).unwrap();
        assert_eq!(recording.read("weather").unwrap().len(), 10, "{format:?}");
        assert_eq!(recording.read("winds").unwrap().len(), 10, "{format:?}");
        assert_eq!(recording.file("last.txt").unwrap(), b"noon");
        fs::remove_dir(next).unwrap();
        assert!(
            fs::read_dir(&folder).unwrap().all(|e| !e
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with('.'))
        );
    }
}
