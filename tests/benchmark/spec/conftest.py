from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark import spec

Load = Callable[[str], spec.Experiment]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads an experiment from its text, as the file `mine.yaml`."""

    def load_text(text: str) -> spec.Experiment:
        path = tmp_path / "mine.yaml"
        path.write_bytes(text.encode())
        return spec.load(path)

    return load_text


@pytest.fixture
def refusal(load: Load) -> Callable[[str], str]:
    """The message with which a text is refused."""

    def message_of(text: str) -> str:
        with pytest.raises(ValueError, match=r"mine\.yaml") as caught:
            load(text)
        return str(caught.value)

    return message_of
