"""Models that `up` is given by path become entries of the catalogue."""

import json
import re
from pathlib import Path
from typing import IO, Any

import pytest
import tomli_w

from gigavqa.catalogue.errors import EntryExistsError
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.resolve import resolve_model
from gigavqa.catalogue.write import write_entry
from gigavqa.launcher.preflight import served_entries
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home

CONFIG = {"model_type": "qwen3_vl", "text_config": {"max_position_embeddings": 8192}}
PREPROCESSOR = {"patch_size": 16, "merge_size": 2, "size": {"shortest_edge": 65536, "longest_edge": 262144}}


def checkpoint(folder: Path) -> Path:
    """The two files of a checkpoint that say what it is."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    return folder


def home_of(tmp_path: Path) -> Home:
    """A home folder below the test's own."""
    return Home.from_environment({"GIGAVQA_HOME": str(tmp_path / "home")})


def test_a_checkpoint_folder_becomes_an_entry_that_gateway_and_workers_read(tmp_path: Path) -> None:
    """The written file loads as the very entry that was resolved."""
    home = home_of(tmp_path)
    (entry,) = served_entries(home, [str(checkpoint(tmp_path / "My-Model"))], lambda line: None)
    assert load_catalogue(home.catalogue)["my-model"] == entry


def test_an_entry_is_written_as_models_add_writes_it(tmp_path: Path) -> None:
    """One writer: the same text, whoever asks, and no draft beside it."""
    home = home_of(tmp_path)
    (entry,) = served_entries(home, [str(checkpoint(tmp_path / "mine"))], lambda line: None)
    other = write_entry(entry, tmp_path / "other")
    assert [path.name for path in home.catalogue.iterdir()] == ["mine.toml"]
    assert (home.catalogue / "mine.toml").read_text() == other.read_text()


def test_a_write_that_fails_leaves_no_draft(tmp_path: Path) -> None:
    """A folder that stands where the entry should is an error, and the only thing there."""
    home = home_of(tmp_path)
    (home.catalogue / "mine.toml" / "inside").mkdir(parents=True)
    entry = resolve_model(str(checkpoint(tmp_path / "mine")), {})
    with pytest.raises(OSError, match=r"mine\.toml"):
        write_entry(entry, home.catalogue, replace=True)
    assert [path.name for path in home.catalogue.iterdir()] == ["mine.toml"]


def test_of_two_that_add_one_id_at_once_the_second_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process writes its entry while this one's is not whole yet: it stays, and no draft beside it."""
    entry = resolve_model(str(checkpoint(tmp_path / "mine")), {})
    write_whole = tomli_w.dump

    def write_after_another(fields: dict[str, Any], file: IO[bytes]) -> None:
        monkeypatch.undo()
        write_entry(entry.model_copy(update={"title": "the other's"}), tmp_path / "entries")
        write_whole(fields, file)

    monkeypatch.setattr(tomli_w, "dump", write_after_another)
    with pytest.raises(EntryExistsError, match=r"mine\.toml: there is an entry of this id already"):
        write_entry(entry, tmp_path / "entries")
    assert [path.name for path in (tmp_path / "entries").iterdir()] == ["mine.toml"]
    assert load_catalogue(tmp_path / "entries")["mine"].title == "the other's"


def test_an_entry_that_the_operator_edited_stays(tmp_path: Path) -> None:
    """Serving the same folder again takes the edited entry."""
    home, folder = home_of(tmp_path), checkpoint(tmp_path / "mine")
    served_entries(home, [str(folder)], lambda line: None)
    path = home.catalogue / "mine.toml"
    path.write_text(re.sub(r"max_tokens = \d+", "max_tokens = 99", path.read_text()))
    (entry,) = served_entries(home, [str(folder)], lambda line: None)
    assert entry.decoding.max_tokens == 99


def test_a_folder_cannot_take_the_id_of_another_model(tmp_path: Path) -> None:
    """A folder called like a shipped model is refused, not served as that model."""
    folder = checkpoint(tmp_path / "qwen3-vl-8b")
    with pytest.raises(SettingsInvalidError, match="Qwen/Qwen3-VL-8B-Instruct"):
        served_entries(home_of(tmp_path), [str(folder)], lambda line: None)
