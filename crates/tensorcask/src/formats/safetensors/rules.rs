//! What can be wrong with a safetensors file. Severities follow the project's interface: what no honest writer makes
//! is an error, what real writers make and every loader accepts is at most a note.

use crate::core::rules;

rules! {
    HEADER_TOO_SMALL "ST001" "header-too-small" Structure Error [] "The file is shorter than the 8 bytes that hold the length of the header, so there is no header. The download was cut short or something else was saved under this name: fetch the file again."
    HEADER_TOO_LARGE "ST002" "header-too-large" Structure Error ["SFT-01"] "The first 8 bytes name a header of more than 100,000,000 bytes, which the format forbids. Usually the file is no safetensors file at all. With `--limit header_bytes=N` the header is read all the same and the finding stays."
    HEADER_LARGE "ST003" "header-large" Structure Note [] "The header has 25,000,000 bytes or more. That is valid, but tools that read headers over a network refuse it from there on."
    DATA_GAP "ST004" "data-gap" Structure Error ["SFT-01"] "Bytes between two tensors, or before the first, belong to none. The format allows no gap: loaders refuse the file, and the bytes could hide anything. The file was edited or written by a faulty tool: save it again."
    FILE_TRUNCATED "ST005" "file-truncated" Structure Error ["SFT-01"] "The header describes more bytes than the file has. The message names how much is there, how much there should be, and the first tensor that is not whole. The copy or download was cut short: fetch the file again."
    HEADER_NOT_UTF8 "ST006" "header-not-utf8" Structure Error [] "The header is JSON and has to be UTF-8; at the offset it is not. The file is damaged or is no safetensors file."
    HEADER_JSON "ST007" "header-json" Structure Error [] "The header is not valid JSON; the message says what stands at the offset. The tensors before the place are listed, those after it are unknown. The file is damaged: fetch it again."
    HEADER_NOT_OBJECT "ST008" "header-not-object" Structure Error ["SFT-01"] "The header has to be a JSON object that begins with `{`. The file is damaged or is no safetensors file."
    DUPLICATE_NAME "ST009" "duplicate-name" Structure Error ["SFT-01"] "Two entries have the same tensor name, perhaps one of them spelt with escapes. Loaders silently take the last one, other tools the first: two readers see different weights. Save the file again with distinct names."
    DUPLICATE_KEY "ST010" "duplicate-key" Structure Error ["SFT-01"] "The same key occurs twice in an entry or in `__metadata__`. Readers differ in which they take."
    ENTRY_FORM "ST011" "entry-form" Structure Error [] "A tensor's entry, or its dtype, has a form that the format does not define (an array in place of the object, an object in place of the dtype's name). Some loaders accept it by accident, others refuse the file."
    MISSING_FIELD "ST012" "missing-field" Structure Error [] "An entry lacks `dtype`, `shape` or `data_offsets`, so the tensor cannot be read. It stays in the table as missing."
    FIELD_TYPE "ST013" "field-type" Structure Error [] "A field has a value of the wrong kind: `dtype` has to be a string, `shape` an array of integers, `data_offsets` two integers; integers are written without sign, point and exponent and are below 2^64."
    UNKNOWN_FIELD "ST014" "unknown-field" Structure Note [] "An entry has a field that the format does not define. Loaders ignore it."
    METADATA_NOT_STRING "ST015" "metadata-not-string" Structure Error [] "`__metadata__` has to be an object whose values are strings. The reference loader refuses the file."
    METADATA_NULL "ST016" "metadata-null" Structure Note [] "`__metadata__` is `null`, as MLX writes it when there is none. Common loaders accept it; a few strict readers do not."
    HEADER_TRAILING "ST017" "header-trailing" Structure Error [] "Something other than blanks follows the JSON object inside the header, for example NUL bytes. The reference loader refuses it, others accept it and could read hidden content."
    LEADING_BLANKS "ST018" "leading-blanks" Structure Error ["SFT-01"] "Blanks stand before the `{` of the header. The specification says that the header begins with `{`; some readers test for it and do not recognise the file."
    PADDING_NOT_SPACE "ST019" "padding-not-space" Structure Note [] "The header is padded with tabs or line ends in place of spaces. Loaders accept it."
    HEADER_UNPADDED "ST020" "header-unpadded" Structure Note [] "The header's length is no multiple of 8, so the data does not start aligned. It is valid (MLX writes such files); readers may have to copy where they could have mapped."
    SPARE_ROOM "ST021" "spare-room" Structure Note [] "More than 1 MB of blanks follows the header's object. It is valid and can be room for later edits; every reader has to load it."
    UNKNOWN_DTYPE "ST022" "unknown-dtype" Portability Warning [] "The element type is none that this version knows: the file is newer than the reader, or was written by hand. The tensor is listed and the others stay readable; the reference loader refuses the whole file."
    SIZE_MISMATCH "ST023" "size-mismatch" Structure Error ["SFT-01"] "Shape and dtype need another number of bytes than the offsets span. Either the header or the data is wrong; the tensor stays in the table as missing."
    SIZE_OVERFLOW "ST024" "size-overflow" Structure Error ["SFT-01"] "The number of elements, multiplied from the left, or the number of bits does not fit 64 bits. No file can hold such a tensor."
    DATA_OVERLAP "ST025" "data-overlap" Structure Error ["SFT-01"] "A tensor begins before the end of the one in front of it. The format forbids sharing bytes: one of the two entries is wrong."
    OFFSETS_REVERSED "ST026" "offsets-reversed" Structure Error ["SFT-01"] "The end offset of a tensor lies before its begin offset."
    TRAILING_BYTES "ST027" "trailing-bytes" Structure Error ["SFT-01"] "Bytes follow the last tensor. The format allows none: loaders refuse the file, and the bytes could hold anything, another file included."
    PARTIAL_BYTE "ST028" "partial-byte" Structure Error [] "A tensor of 4-bit or 6-bit elements does not fill whole bytes. The reference loader refuses it; pad the tensor to whole bytes before it is saved."
    RESERVED_NAME "ST029" "reserved-name" Structure Error [] "A tensor is called `__metadata__`, the name that the format reserves. The reference writer makes such a file and nothing can read it back. Rename the tensor and save again."
    UNALIGNED_START "ST030" "unaligned-start" Structure Note [] "A tensor does not start at a multiple of its element size. It is valid; readers have to copy it where they could have mapped it."
}
