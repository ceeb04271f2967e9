//! Tables from Parquet files; [`encode`](super::encode) writes them.

use super::table::{Rows, Values};
use crate::scene::Table;
use parquet::column::reader::ColumnReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;

/// All rows of a file.
pub(super) fn read(file: File, table: Table) -> Result<Rows> {
    let reader = SerializedFileReader::new(file)?;
    // moments are there or not
    let found = reader.metadata().file_metadata().schema_descr().columns();
    let moments = found.iter().any(|c| c.name() == "moment_n");
    let mut rows = if moments { Rows::with_moments(table) } else { Rows::new(table) };
    for g in 0..reader.num_row_groups() {
        let group = reader.get_row_group(g)?;
        let length = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let found = group.metadata().columns();
        for (at, column) in rows.columns().iter().enumerate() {
            let i = found.iter().position(|c| c.column_path().string() == column.name);
            let i = i.ok_or_else(|| ParquetError::General(format!("no column {:?}", column.name)))?;
            let read = match (group.get_column_reader(i)?, &mut rows.values[at]) {
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
