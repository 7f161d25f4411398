"""What CIFAR-10 and CIFAR-100 share. They are read in the binary version, since the Python version uses pickle."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from datasets._archive import check_md5, read_archive
from datasets._data import Data, Split
from datasets._dataset import Dataset, Size
from datasets._errors import InputError, missing
from datasets._options import Flag, Real
from datasets._place import Place
from datasets._splits import closed_split
from datasets._torchvision import ensure_torchvision

PIXELS = 3 * 32 * 32
MOST_IMAGES = 50_000


class Cifar(Dataset):
    """A subclass names the files and the number of label bytes per image; the last byte is the label."""

    folder: ClassVar[str]
    pickled_folder: ClassVar[str]
    archive: ClassVar[str]
    md5: ClassVar[str]
    files: ClassVar[dict[str, tuple[str, ...]]]
    names_file: ClassVar[str]
    label_bytes: ClassVar[int]
    count: ClassVar[int]
    channels = 3
    homepage = "https://www.cs.toronto.edu/~kriz/cifar.html (the binary version)"

    val_share = Real(0.1, "share of each class's training images that validates", low=0.01, high=0.5)
    download = Flag(False, "fetch what is missing into root, with torchvision's downloader", incidental=True)

    def training_size(self) -> Size:
        return Size(self.count, MOST_IMAGES / self.count * (1 - self.val_share), 32 * 32)

    def build(self, place: Place, seed: int) -> Data:
        contents = self._contents(place.root)
        names = self._names(contents[self.names_file])
        train, test = (self._parse(contents, part, names) for part in ("train", "test"))
        return closed_split(self.name, train, test, self.val_share, seed)

    def _contents(self, root: Path) -> dict[str, bytes]:
        """The files by name, from the folder or from the archive beside it."""
        wanted = {self.names_file, *(file for files in self.files.values() for file in files)}
        folder, archive = root / self.folder, root / self.archive
        if all((folder / file).is_file() for file in wanted):
            return {file: self._content(folder / file) for file in wanted}
        if self.download and not archive.is_file():
            url = f"https://www.cs.toronto.edu/~kriz/{self.archive}"
            ensure_torchvision().datasets.utils.download_url(url, str(root), md5=self.md5)
        if not archive.is_file():
            raise missing(self.name, [self.archive], [root, folder], self.homepage, hint=self._hint(root))
        check_md5(archive, self.md5)
        members = read_archive(archive, most_members=32, most_bytes=MOST_IMAGES * (PIXELS + 2))
        found = {path.name: content for path, content in members if path.name in wanted}
        if lacking := sorted(wanted - set(found)):
            raise InputError(f"{archive} lacks {', '.join(lacking)}; remove it and get it again")
        return found

    def _content(self, file: Path) -> bytes:
        most = MOST_IMAGES * (PIXELS + self.label_bytes)
        if file.stat().st_size > most:
            raise InputError(f"{file} has {file.stat().st_size} bytes; expected at most {most}")
        return file.read_bytes()

    def _hint(self, root: Path) -> str:
        if not (root / self.pickled_folder).is_dir():
            return ""
        return (
            f"{root / self.pickled_folder} is the Python version. Its pickle files can run any code when "
            "they are read, so MarginBench does not read them."
        )

    def _names(self, content: bytes) -> tuple[str, ...]:
        names = tuple(content.decode("ascii", errors="replace").split())
        if len(names) != self.count:
            raise InputError(f"{self.names_file}: expected {self.count} class names, got {len(names)}")
        return names

    def _parse(self, contents: dict[str, bytes], part: str, names: tuple[str, ...]) -> Split:
        record = self.label_bytes + PIXELS
        for file in self.files[part]:
            if not contents[file] or len(contents[file]) % record:
                raise InputError(
                    f"{self.name}: {file} has {len(contents[file])} bytes, which is not a multiple of the record size "
                    f"{record}; remove it and get it again"
                )
        records = np.frombuffer(b"".join(contents[file] for file in self.files[part]), dtype=np.uint8)
        records = records.reshape(-1, record)
        labels = records[:, self.label_bytes - 1].astype(np.int64)
        if labels.max() >= self.count:
            raise InputError(f"{self.name}: expected labels from 0 to {self.count - 1}, got {labels.max()}")
        images = records[:, self.label_bytes :].reshape(-1, 3, 32, 32).copy()
        return Split(torch.from_numpy(images), torch.from_numpy(labels), names)
