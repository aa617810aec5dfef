"""Reading entries."""

import re
from pathlib import Path

import pytest

from gigavqa.catalogue.entry import MIN_ANSWER_TOKENS
from gigavqa.catalogue.errors import EntryInvalidError, ModelUnknownError
from gigavqa.catalogue.load import SHIPPED_MODELS, load_catalogue, read_entry


def test_the_shipped_entries_are_valid() -> None:
    """The demo's model and the three production models are there."""
    assert {"demo-qwen3-vl", "qwen3.5-27b", "qwen3-vl-8b", "qwen2.5-vl-7b"} <= set(load_catalogue())


@pytest.mark.parametrize("model_id", ["qwen3.5-27b", "qwen3-vl-8b", "qwen2.5-vl-7b"])
def test_production_entries_have_the_papers_budget_and_decoding(model_id: str) -> None:
    """16384 visual tokens; temperature 0.7, top-p 0.95, 32768 output tokens."""
    entry = load_catalogue()[model_id]
    decoding = entry.decoding
    assert entry.visual_budget.max_visual_tokens == 16384
    assert (decoding.temperature, decoding.top_p, decoding.max_tokens) == (0.7, 0.95, 32768)


PAPER = {
    "qwen3.5-27b": (16384, 4096),
    "internvl3.5-38b": (32768, 5068),
    "internvl3.5-38b-chat": (32768, 5068),
    "gemma-4-26b": (1120, 1606),
    "glm-4.5v": (12288, 3103),
    "deepseek-vl2": (2101, 1152),
    "minicpm-v-4.5": (640, 1344),
    "phi-4-reasoning-vision-15b": (3600, 960),
    "kimi-vl-a3b-thinking": (4096, 1792),
}
"""UltraVR, table 1: maximum visual tokens and effective resolution."""


@pytest.mark.parametrize("model_id", PAPER)
def test_the_papers_models_have_the_papers_budgets(model_id: str) -> None:
    """Both figures come out of the budget of each entry."""
    budget = load_catalogue()[model_id].visual_budget
    assert (budget.nominal_visual_tokens, budget.effective_resolution) == PAPER[model_id]


@pytest.mark.parametrize(
    ("model_id", "tokens"), [("glm-4.5v", 6144), ("gemma-4-26b", 280), ("internvl3.5-38b", 13 * 256)]
)
def test_another_published_budget_is_stated(model_id: str, tokens: int) -> None:
    """Where the checkpoint's own files give less than the paper's."""
    published = load_catalogue()[model_id].published_budget
    assert published is not None
    assert published.max_visual_tokens == tokens


def test_thumbnails_and_padding_are_counted_beside_the_papers_figure() -> None:
    """A picture can cost more than the nominal tokens: 33024 for InternVL, 4338 for Kimi."""
    catalogue = load_catalogue()
    assert catalogue["internvl3.5-38b"].visual_budget.max_visual_tokens == 33024
    assert catalogue["kimi-vl-a3b-thinking"].visual_budget.max_visual_tokens == 4338


@pytest.mark.parametrize("model_id", load_catalogue())
def test_the_largest_picture_and_an_answer_fit_the_context(model_id: str) -> None:
    """With 768 tokens for the text, so that V2 of no picture is refused."""
    entry = load_catalogue()[model_id]
    answer = min(entry.decoding.max_tokens, MIN_ANSWER_TOKENS)
    assert entry.visual_budget.max_visual_tokens + answer + 768 <= entry.max_model_len


@pytest.mark.parametrize("model_id", load_catalogue())
def test_no_shipped_entry_runs_code_from_elsewhere(model_id: str) -> None:
    """Remote code is the operator's own decision."""
    entry = load_catalogue()[model_id]
    assert not entry.trust_remote_code or entry.weights.startswith("built-in:")


@pytest.mark.parametrize("path", sorted(SHIPPED_MODELS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_shipped_entry_fills_the_columns_of_papers(path: Path) -> None:
    """Its group; of open weights the number of parameters, and the GPUs where they can be served here."""
    entry = read_entry(path)
    if entry.random_weights:
        return  # which no paper asks
    assert entry.access is not None
    assert entry.access == "private" or entry.billions
    assert entry.is_closed or (entry.access != "private" and entry.gpus)


@pytest.mark.parametrize("model_id", load_catalogue())
def test_the_gpus_are_those_of_the_engines_arguments(model_id: str) -> None:
    """Tensor parallelism over as many GPUs as the entry says it needs."""
    entry = load_catalogue()[model_id]
    assert entry.engine.get("tensor_parallel_size", 1) == (entry.gpus.number if entry.gpus else 1)


def test_unpinned_remote_code_is_refused(tmp_path: Path) -> None:
    """A branch could change under a running service."""
    text = (
        (SHIPPED_MODELS / "minicpm-v-4.5.toml")
        .read_text()
        .replace("[visual_budget]", "trust_remote_code = true\n\n[visual_budget]")
    )
    (tmp_path / "minicpm-v-4.5.toml").write_text(text)
    with pytest.raises(EntryInvalidError, match="pinned revision"):
        load_catalogue(tmp_path)


def test_an_unknown_id_names_what_there_is() -> None:
    """The error helps with a misspelt id."""
    with pytest.raises(ModelUnknownError, match="demo-qwen3-vl"):
        load_catalogue()["demo"]


def test_a_wrong_field_is_named_with_its_file(tmp_path: Path) -> None:
    """The error tells which file and which field."""
    text = (SHIPPED_MODELS / "demo-qwen3-vl.toml").read_text().replace("max_model_len = 8192", "max_model_len = 0")
    (tmp_path / "demo-qwen3-vl.toml").write_text(text)
    with pytest.raises(EntryInvalidError, match=r"demo-qwen3-vl\.toml: max_model_len"):
        load_catalogue(tmp_path)


def test_an_operators_entry_replaces_a_shipped_one(tmp_path: Path) -> None:
    """Later folders win."""
    text = (SHIPPED_MODELS / "demo-qwen3-vl.toml").read_text().replace('licence = "Apache-2.0"', 'licence = "own"')
    (tmp_path / "demo-qwen3-vl.toml").write_text(text)
    assert load_catalogue(tmp_path)["demo-qwen3-vl"].licence == "own"


def test_the_id_must_be_the_files_name(tmp_path: Path) -> None:
    """Two files cannot claim one id unnoticed."""
    (tmp_path / "other.toml").write_text((SHIPPED_MODELS / "demo-qwen3-vl.toml").read_text())
    with pytest.raises(EntryInvalidError, match="differs"):
        load_catalogue(tmp_path)


def test_an_entry_is_found_by_its_other_names(tmp_path: Path) -> None:
    """By alias, title and weights, in whatever case; an id goes before the aliases of others."""
    text = (SHIPPED_MODELS / "qwen3-vl-8b.toml").read_text()
    (tmp_path / "qwen3-vl-8b.toml").write_text(f'aliases = ["Judge-1", "qwen3.5-27b"]\n{text}')
    catalogue = load_catalogue(tmp_path)
    for name in ("JUDGE-1", "Qwen/qwen3-vl-8b-instruct", "qwen3-vl-8b-INSTRUCT", "Qwen3-VL-8B"):
        assert catalogue.find(name).id == "qwen3-vl-8b"
    assert catalogue.find("qwen3.5-27b").id == "qwen3.5-27b"
    with pytest.raises(ModelUnknownError, match="is not in the catalogue"):
        catalogue.find("judge-11")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{ max_pixels = 1000 }", "says max_pixels"),
        ('{ size = { shortest_edge = 1, longest_edge = 2 }, device = "cuda" }', "says size"),
        ("3", "is to be a table"),
    ],
)
def test_an_entry_says_nothing_to_the_processor_that_its_budget_does_not_plan(
    tmp_path: Path, said: str, told: str
) -> None:
    """Else pictures would be made by the one and counted by the other."""
    shipped = (SHIPPED_MODELS / "qwen3-vl-8b.toml").read_text()
    (tmp_path / "qwen3-vl-8b.toml").write_text(f"{shipped}mm_processor_kwargs = {said}\n")
    with pytest.raises(EntryInvalidError, match=rf"qwen3-vl-8b.toml.*{told}"):
        load_catalogue(tmp_path)


def test_an_entry_may_say_where_its_processor_works(tmp_path: Path) -> None:
    """And repeat what the budget says."""
    shipped = (SHIPPED_MODELS / "qwen3-vl-8b.toml").read_text()
    said = "size = { shortest_edge = 65536, longest_edge = 16777216 }"
    (tmp_path / "qwen3-vl-8b.toml").write_text(f'{shipped}mm_processor_kwargs = {{ device = "cuda", {said} }}\n')
    assert load_catalogue(tmp_path)["qwen3-vl-8b"].engine["mm_processor_kwargs"]["device"] == "cuda"


def test_a_published_budget_that_differs_is_an_entry_of_its_own() -> None:
    """Of the same weights, which names of the model do not find."""
    catalogue = load_catalogue()
    own = catalogue.published("internvl3.5-38b")
    assert own is not None and catalogue[own.id] is own
    assert own.weights == catalogue["internvl3.5-38b"].weights
    assert own.visual_budget.max_visual_tokens == 13 * 256
    assert catalogue.find(own.weights).id == "internvl3.5-38b"
    assert [catalogue.published(name) for name in ("qwen3-vl-8b", own.id)] == [None] * 2


def test_an_entry_says_what_is_not_verified_of_it() -> None:
    """InternVL's 12 tiles, and licences that nobody has read."""
    catalogue = load_catalogue()
    notes = {name: " ".join(entry.notes) for name, entry in catalogue.items()}
    tiles = [name for name in notes if name.startswith("internvl") and "12 tiles" in notes[name]]
    assert set(tiles) >= {f"internvl{version}-{size}" for version in ("2.5", "3") for size in ("8b", "38b", "78b")}
    for name in ("internvl3-38b", "tongyi-deepresearch-30b-a3b"):
        assert re.search(r"[Nn]o[tr]\b.* its licence", notes[name]), name
