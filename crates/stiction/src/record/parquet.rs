//! Tables as Parquet, one row group a file. Names are dictionary-encoded, numbers plain. Large files are compressed by
//! Snappy; for small ones that takes longer than it is worth.

use super::table::{Kind, Rows, Values, columns};
use crate::scene::Table;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::fs::File;
use std::sync::Arc;

/// Rows from which on files are compressed.
const LARGE: usize = 1 << 15;

/// Writes files of a table.
#[derive(Debug)]
pub(super) struct Encoder {
    schema: TypePtr,
    small: WriterPropertiesPtr,
    large: WriterPropertiesPtr,
}

impl Encoder {
    pub fn new(table: Table) -> Result<Self> {
        let mut fields = vec![];
        let mut properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            // readers that look for an interval of time can leave parts out
            .set_column_statistics_enabled(ColumnPath::from("time"), EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_created_by(format!("stiction {}", env!("CARGO_PKG_VERSION")));
        let mut units = vec![];
        for column in columns(table) {
            let (physical, logical) = match column.kind {
                Kind::Number => (Physical::DOUBLE, None),
                Kind::Count => (Physical::INT64, None),
                Kind::Word => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let field = Type::primitive_type_builder(column.name, physical)
                .with_logical_type(logical)
                .with_repetition(Repetition::REQUIRED)
                .build()?;
            fields.push(Arc::new(field));
            if column.kind == Kind::Word {
                properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.name), true);
            }
            if !column.unit.is_empty() {
                units.push(KeyValue::new(format!("unit.{}", column.name), column.unit.to_owned()));
            }
        }
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let properties = properties.set_key_value_metadata(Some(units));
        let large = Arc::new(properties.clone().set_compression(Compression::SNAPPY).build());
        Ok(Self { schema, small: Arc::new(properties.build()), large })
    }

    /// A whole file in memory, in place of what the buffer held.
    pub fn encode(&self, rows: &Rows, file: &mut Vec<u8>) -> Result<()> {
        file.clear();
        let properties = if rows.len() < LARGE { &self.small } else { &self.large };
        let mut writer = SerializedFileWriter::new(file, self.schema.clone(), properties.clone())?;
        if rows.is_empty() {
            writer.close()?;
            return Ok(());
        }
        let mut group = writer.next_row_group()?;
        let words: Vec<ByteArray> = rows.words.list().iter().map(|w| ByteArray::from(w.as_str())).collect();
        for values in &rows.values {
            let Some(mut column) = group.next_column()? else { break };
            match values {
                Values::Numbers(list) => column.typed::<DoubleType>().write_batch(list, None, None)?,
                Values::Counts(list) => column.typed::<Int64Type>().write_batch(list, None, None)?,
                Values::Words(list) => {
                    let list: Vec<ByteArray> = list.iter().map(|c| words[*c as usize].clone()).collect();
                    column.typed::<ByteArrayType>().write_batch(&list, None, None)?
                }
            };
            column.close()?;
        }
        group.close()?;
        writer.close()?;
        Ok(())
    }
}

/// All rows of a file.
pub(super) fn read(file: File, table: Table) -> Result<Rows> {
    let reader = SerializedFileReader::new(file)?;
    let mut rows = Rows::new(table);
    for g in 0..reader.num_row_groups() {
        let group = reader.get_row_group(g)?;
        let length = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let found = group.metadata().columns();
        for (at, column) in columns(table).iter().enumerate() {
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
