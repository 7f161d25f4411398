"""Which reader a file or folder needs, by its content."""

from collections.abc import Sequence
from pathlib import Path

from datasets._errors import InputError
from datasets._pair_bin import read_pair_bin
from datasets._pair_list import PairList
from datasets._parquet import read_pair_parquet
from datasets._record import MAGIC_BYTES
from datasets._recordio import open_records
from datasets._shards import GZIP, open_shards
from datasets._source import Source
from datasets._trees import scan_tree
from datasets._zips import open_zip

TAR_AT, TAR = 257, b"ustar"
PAIRS_FILE = "pairs file"
KINDS = "RecordIO (.rec), tar shards, a .zip, parquet, .bin or a pairs file (.txt, .csv)"


def recognise(path: Path) -> str:
    """`folder`, `recordio`, `index`, `shards`, `zip`, `parquet`, `bin` or `pairs file`."""
    if path.is_dir():
        return "folder"
    with path.open("rb") as file:
        head = file.read(512)
    starts = {MAGIC_BYTES: "recordio", b"PK": "zip", GZIP: "shards", b"PAR1": "parquet", b"\x80": "bin", b"(": "bin"}
    for start, kind in starts.items():
        if head.startswith(start):
            return kind
    if head[TAR_AT:].startswith(TAR):
        return "shards"
    if path.suffix == ".idx" and path.with_suffix(".rec").is_file():
        return "index"
    if head and b"\0" not in head and path.suffix.lower() in (".txt", ".csv"):
        return PAIRS_FILE
    raise InputError(f"{path}: it begins with {head[:8].hex() or 'nothing'}; expected {KINDS}")


def open_source(paths: Sequence[Path], cache: Path) -> Source:
    """Images of one file or folder, or of several shards."""
    path = paths[0]
    kinds = {recognise(one) for one in paths}
    if len(paths) > 1:
        if kinds != {"shards"}:
            raise InputError(f"{path} and {len(paths) - 1} more: only tar shards can be several files")
        return open_shards(paths, cache)
    (kind,) = kinds
    if kind == "folder":
        return _open_folder(path, cache)
    if kind in ("recordio", "index"):
        return open_records(path.with_suffix(".rec") if kind == "index" else path, cache)
    if kind == "shards":
        return open_shards(paths, cache)
    if kind == "zip":
        return open_zip(path, cache)
    if kind in ("bin", "parquet"):
        return PairList(path, read_pair_bin if kind == "bin" else read_pair_parquet, cache)
    raise InputError(f"{path} is a list of pairs, not of images; give it with its images, as {{pairs: …, images: …}}")


def _open_folder(folder: Path, cache: Path) -> Source:
    """insightface's folder, a folder of shards, or a tree."""
    files = sorted(entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith("."))
    packs = [file for file in files if file.suffix == ".rec"]
    if len(packs) > 1 and folder / "train.rec" in packs:
        packs = [folder / "train.rec"]
    if len(packs) > 1:
        raise InputError(f"{folder} holds {len(packs)} .rec files; name one of them")
    if packs:
        return open_source(packs, cache)
    shards = [file for file in files if file.name.endswith((".tar", ".tar.gz", ".tgz"))]
    return open_source(shards, cache) if shards else scan_tree(folder)
