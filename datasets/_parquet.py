"""Parquet of encoded pairs: the columns image1, image2 and target, as Hugging Face's mirrors have them."""

from pathlib import Path
from typing import Any

from datasets._errors import InputError
from datasets._source import MOST_BYTES

IMAGES = ("image1", "image2")
COLUMNS = (*IMAGES, "target")
AT_ONCE = 256
MOST_GROWTH = 50
INSTALL = "pip install -c constraints.txt -e '.[faces]'"


def read_pair_parquet(path: Path) -> tuple[list[bytes], list[bool]]:
    """The images, two for each pair, and whether each pair is of one person."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(f"{path}: reading parquet needs pyarrow, which is not installed: {INSTALL}") from error
    images: list[bytes] = []
    same: list[bool] = []
    try:
        with parquet.ParquetFile(path) as file:
            _check_columns(path, pyarrow, file.schema_arrow)
            _check_growth(path, file.metadata)
            for batch in file.iter_batches(AT_ONCE, columns=list(COLUMNS)):
                for row in batch.to_pylist():
                    where = f"{path}, row {len(same)}"
                    images += [_image(row[name], f"{where}, {name}") for name in IMAGES]
                    same.append(_same(row["target"], where))
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} is not a whole parquet file: {error}") from error
    return images, same


def _check_columns(path: Path, pyarrow: Any, schema: Any) -> None:
    """An image is bytes, or a struct with a field `bytes`, as the library `datasets` writes it."""
    found = {name: schema.field(name).type for name in schema.names}
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        came = ", ".join(schema.names[:20]) or "none"
        raise InputError(f"{path}: expected the columns {', '.join(COLUMNS)}; {', '.join(missing)} missing of {came}")
    for name in IMAGES:
        kind = found[name]
        if pyarrow.types.is_struct(kind) and kind.get_field_index("bytes") >= 0:
            kind = kind.field("bytes").type
        if not (pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind)):
            raise InputError(f"{path}: expected encoded images in column {name}, its type is {found[name]}")


def _check_growth(path: Path, metadata: Any) -> None:
    size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if size > MOST_GROWTH * path.stat().st_size + MOST_BYTES:
        raise InputError(f"{path}: its images would have more than {MOST_GROWTH} times its size; it is not read")


def _image(value: Any, where: str) -> bytes:
    content = value.get("bytes") if isinstance(value, dict) else value
    if not isinstance(content, bytes):
        raise InputError(f"{where}: there is no image")
    if len(content) > MOST_BYTES:
        raise InputError(f"{where} has {len(content)} bytes; expected at most {MOST_BYTES}")
    return content


def _same(value: Any, where: str) -> bool:
    if value not in (0, 1):
        raise InputError(f"{where}: expected a target of 0 or 1, {str(value)[:50]} came")
    return bool(value)
