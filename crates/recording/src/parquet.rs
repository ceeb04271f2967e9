//! Tables from Parquet files; [`encode`](crate::encode) writes them.

use crate::table::{Column, Kind, Rows, Table, Values};
use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;

/// All rows of a file.
pub(crate) fn read(file: File, table: &Table) -> Result<Rows> {
    let reader = SerializedFileReader::new(file)?;
    let about = reader.metadata().file_metadata();
    let names: Vec<&str> = about.schema_descr().columns().iter().map(|c| c.name()).collect();
    let table = table.found(&names, |k, name| unknown(about, k, name)).map_err(ParquetError::General)?;
    let mut rows = Rows::new(&table);
    for g in 0..reader.num_row_groups() {
        let group = reader.get_row_group(g)?;
        let length = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        for (i, column) in table.columns.iter().enumerate() {
            let read = match (group.get_column_reader(i)?, &mut rows.values[i]) {
                (ColumnReader::DoubleColumnReader(mut r), Values::Numbers(list)) => {
                    r.read_records(length, None, None, list)?.1
                }
                (ColumnReader::Int64ColumnReader(mut r), Values::Counts(list)) => {
                    r.read_records(length, None, None, list)?.1
                }
                (ColumnReader::ByteArrayColumnReader(mut r), Values::Words(list)) => {
                    let mut words = vec![];
                    let read = r.read_records(length, None, None, &mut words)?.1;
                    for word in &words {
                        list.push(rows.words.code(word.as_utf8()?));
                    }
                    read
                }
                _ => {
                    let fault = format!("column {:?} is not of {:?}s", column.name, column.kind);
                    return Err(ParquetError::General(fault));
                }
            };
            if read != length {
                let fault = format!("column {:?}: {read} of {length} values", column.name);
                return Err(ParquetError::General(fault));
            }
        }
    }
    Ok(rows)
}

/// Whether a file is a table of these columns.
pub(crate) fn has_columns(file: File, table: &Table) -> bool {
    let Ok(reader) = SerializedFileReader::new(file) else { return false };
    let about = reader.metadata().file_metadata();
    let names: Vec<&str> = about.schema_descr().columns().iter().map(|c| c.name()).collect();
    table.found(&names, |k, name| unknown(about, k, name)).is_ok()
}

/// A column that the definition does not know: its kind and unit are those of the file.
fn unknown(about: &FileMetaData, k: usize, name: &str) -> std::result::Result<Column, String> {
    let kind = match about.schema_descr().column(k).physical_type() {
        Type::DOUBLE => Kind::Number,
        Type::INT64 => Kind::Count,
        Type::BYTE_ARRAY => Kind::Word,
        other => return Err(format!("column {name:?} is of {other}, expected DOUBLE, INT64 or BYTE_ARRAY")),
    };
    let mut all = about.key_value_metadata().into_iter().flatten();
    let unit = all.find(|pair| pair.key.strip_prefix("unit.") == Some(name)).and_then(|p| p.value.clone());
    let (name, unit) = (name.to_owned().into(), unit.unwrap_or_default().into());
    Ok(Column { name, kind, unit, optional: true })
}
