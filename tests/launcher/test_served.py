"""Models that `up` is given by path become entries of the catalogue, once they were served."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
import tomli_w
from safetensors.numpy import save_file

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import EntryExistsError, FamilyMismatchError
from gigavqa.catalogue.load import load_catalogue, read_entry
from gigavqa.catalogue.resolve import resolve_model
from gigavqa.catalogue.write import write_entry
from gigavqa.launcher.errors import ProcessFailedError
from gigavqa.launcher.preflight import require_weights
from gigavqa.launcher.served_entries import served_entries, written_entries
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home
from gigavqa.workers.served_models import served_models
from gigavqa.workers.settings import WorkerSettings
from tests.cli.installation import Installation

CONFIG = {"model_type": "qwen3_vl", "text_config": {"max_position_embeddings": 8192}}
PREPROCESSOR = {"patch_size": 16, "merge_size": 2, "size": {"shortest_edge": 65536, "longest_edge": 262144}}


def checkpoint(folder: Path) -> Path:
    """The two files of a checkpoint that say what it is, and weights."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    save_file({"weight": np.zeros(1, np.float32)}, folder / "model.safetensors")
    return folder


def serve(home: Home, folder: Path) -> CatalogueEntry:
    """Serve a checkpoint's folder, and end; returns its entry."""
    entries = served_entries(home, [str(folder)])
    with written_entries(home, entries, lambda line: None) as keep:
        keep()
    return entries[0]


def home_of(tmp_path: Path) -> Home:
    """A home folder below the test's own."""
    return Home.from_environment({"GIGAVQA_HOME": str(tmp_path / "home")})


def test_a_checkpoint_folder_becomes_an_entry_that_gateway_and_workers_read(tmp_path: Path) -> None:
    """The written file loads as the very entry that was resolved."""
    home = home_of(tmp_path)
    entry = serve(home, checkpoint(tmp_path / "My-Model"))
    assert load_catalogue(home.catalogue)["my-model"] == entry


def test_an_entry_is_written_as_models_add_writes_it(tmp_path: Path) -> None:
    """One writer: the same text, whoever asks, and no draft beside it."""
    home = home_of(tmp_path)
    entry = serve(home, checkpoint(tmp_path / "mine"))
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
    serve(home, folder)
    path = home.catalogue / "mine.toml"
    path.write_text(re.sub(r"max_tokens = \d+", "max_tokens = 99", path.read_text()))
    assert serve(home, folder) == read_entry(path)
    (entry,) = served_entries(home, [str(folder)])
    assert entry.decoding.max_tokens == 99


def test_a_folder_cannot_take_the_id_of_another_model(tmp_path: Path) -> None:
    """A folder called like a shipped model is refused, not served as that model."""
    folder = checkpoint(tmp_path / "qwen3-vl-8b")
    with pytest.raises(SettingsInvalidError, match="Qwen/Qwen3-VL-8B-Instruct"):
        served_entries(home_of(tmp_path), [str(folder)])


def test_two_folders_of_one_name_are_not_served_as_one_model(tmp_path: Path) -> None:
    """Nor is anything written of either."""
    home, folders = home_of(tmp_path), [checkpoint(tmp_path / side / "mine") for side in ("left", "right")]
    with pytest.raises(SettingsInvalidError, match=r"would be served as 'mine'.*left/mine"):
        served_entries(home, list(map(str, folders)))
    assert not home.catalogue.exists()


def fail_to_serve(home: Home, folder: Path, meanwhile: Callable[[Path], object] = lambda _: None) -> None:
    """Have a start fail after its entry was written."""

    def start() -> None:
        with written_entries(home, served_entries(home, [str(folder)]), lambda line: None):
            meanwhile(home.catalogue / f"{folder.name}.toml")
            raise ProcessFailedError("the worker ended before it was ready")

    with pytest.raises(ProcessFailedError):
        start()


def test_a_start_that_fails_leaves_the_catalogue_as_it_was(tmp_path: Path) -> None:
    """Whether it was there or not; the next start takes the checkpoint as it is by then."""
    home, folder = home_of(tmp_path), checkpoint(tmp_path / "mine")
    seen: list[bool] = []
    fail_to_serve(home, folder, lambda path: seen.append(path.is_file()))
    assert (seen, home.catalogue.exists()) == ([True], False)
    other = serve(home, checkpoint(tmp_path / "other"))
    fail_to_serve(home, folder)
    assert [path.stem for path in home.catalogue.iterdir()] == [other.id]


def test_an_entry_that_was_there_before_a_failed_start_stays(tmp_path: Path) -> None:
    """And so does one that was edited while it started."""
    home, folder = home_of(tmp_path), checkpoint(tmp_path / "mine")
    fail_to_serve(home, folder, lambda path: path.write_text('base_model = "edited"\n' + path.read_text()))
    (entry,) = served_entries(home, [str(folder)])
    fail_to_serve(home, folder)
    assert (entry.base_model, read_entry(home.catalogue / "mine.toml")) == ("edited", entry)


def test_up_that_fails_removes_the_entry_that_it_wrote(installation: Installation) -> None:
    """As a user sees it: one sentence, and the home's catalogue is not there."""
    folder = checkpoint(installation.home / "weights")
    away = Elsewhere(installation.home)
    ended = away.run("up", "--engine", "simulated", "--model", str(folder), "--port", "0")
    assert (ended.returncode, "REDIS_URL does not answer" in ended.stderr) == (1, True)
    assert "catalogue entry written" in ended.stderr and not (installation.home / "catalogue").exists()


@dataclass(frozen=True)
class Elsewhere(Installation):
    """An installation whose state store is to be one that nobody runs."""

    @property
    def environment(self) -> dict[str, str]:
        """As ever, with its address."""
        return super().environment | {"REDIS_URL": "redis://127.0.0.1:9/0"}


def test_weights_of_another_family_than_the_entrys_are_refused(tmp_path: Path) -> None:
    """As when a folder has got other weights: by `up` and by a worker, with both families and what to type."""
    home, folder = home_of(tmp_path), checkpoint(tmp_path / "mine")
    entry = serve(home, folder)
    (folder / "config.json").write_text(json.dumps(CONFIG | {"model_type": "qwen2_5_vl"}))
    told = (
        rf"'mine' is of the family qwen3-vl by its entry, and its weights {folder} are of qwen2\.5-vl by their "
        rf"config\.json, model_type 'qwen2_5_vl' .*: `gigavqa models add {folder} --id mine --force` writes"
    )
    for check in (require_weights, partial(worker_weights, home)):
        with pytest.raises(FamilyMismatchError, match=told):
            check(entry)


def test_weights_of_no_known_family_are_not_served_as_one(tmp_path: Path) -> None:
    """Of a family that only the operator knows nothing is asked."""
    folder = checkpoint(tmp_path / "mine")
    (entry,) = served_entries(home_of(tmp_path), [str(folder)])
    (folder / "config.json").write_text(json.dumps({"model_type": "new", "architectures": ["NewModel"]}))
    with pytest.raises(FamilyMismatchError, match=r"are of none that is known by.*'new' \(architecture NewModel\)"):
        require_weights(entry)
    require_weights(entry.model_copy(update={"family": "mine"}))


def worker_weights(home: Home, entry: CatalogueEntry) -> None:
    """What a worker does with an entry before it loads anything."""
    write_entry(entry, home.catalogue, replace=True)
    served_models(WorkerSettings.model_validate({"folder": home.folder, "models": (entry.id,)}))
