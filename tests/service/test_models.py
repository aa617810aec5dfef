"""Models and data sets are listed with what a client must know to ask for them."""

from pathlib import Path

from gigavqa.catalogue.load import SHIPPED_MODELS, plugin_folders
from tests.service.datasets import NAME, record, write_dataset
from tests.service.gateways import MODEL, RunningGateway, openai_error_of, problem_of


def test_the_catalogue_is_listed_with_budgets(gateway: RunningGateway) -> None:
    """Every shipped entry is there, and those of plugins, with the most visual tokens that a picture can cost."""
    cards = {card["id"]: card for card in gateway.client.get("/v1/models").json()["data"]}
    assert {name for name in cards if not name.endswith("-published")} == {
        path.stem for folder in (SHIPPED_MODELS, *plugin_folders()) for path in folder.glob("*.toml")
    }
    assert cards["glm-4.5v"]["max_visual_tokens"] == 2 * cards["glm-4.5v-published"]["max_visual_tokens"]
    assert cards["qwen3-vl-8b"]["max_visual_tokens"] == 16384
    assert cards["qwen3-vl-8b"]["effective_resolution"] == 4096
    assert cards[MODEL]["random_weights"]


def test_a_model_shows_its_backlog(gateway: RunningGateway) -> None:
    """Two images make two bundles that wait."""
    gateway.submit()
    assert gateway.client.get(f"/v1/models/{MODEL}").json()["queue"] == {"waiting": 2, "leased": 0}


def test_an_entry_that_the_operator_adds_can_be_asked_for(gateway: RunningGateway) -> None:
    """The folder of entries is read again when it changes."""
    openai_error_of(gateway.client.get("/v1/models/mine"), 404, "model_not_found")
    folder: Path = gateway.settings.catalogue
    folder.mkdir(parents=True)
    text = (SHIPPED_MODELS / f"{MODEL}.toml").read_text().replace(f'id = "{MODEL}"', 'id = "mine"')
    (folder / "mine.toml").write_text(text)
    assert gateway.client.get("/v1/models/mine").json()["id"] == "mine"
    assert gateway.submit(models=["mine"]).status_code == 201


def test_data_sets_are_listed_and_described(gateway: RunningGateway) -> None:
    """The list reads what dataset.toml says; one data set is read whole."""
    assert [found["name"] for found in gateway.client.get("/v1/datasets").json()["data"]] == [NAME]
    card = gateway.client.get(f"/v1/datasets/{NAME}").json()
    assert (card["num_samples"], card["num_images"]) == (4, 2)
    assert card["groups"] == {"cctv": {"comparison": 4}}


def test_a_data_set_with_bad_records_is_listed_and_says_what_is_wrong(gateway: RunningGateway) -> None:
    """Looking at it names the records."""
    write_dataset(gateway.settings.data, [record(0), record(0)])
    assert len(gateway.client.get("/v1/datasets").json()["data"]) == 1
    problem = problem_of(gateway.client.get(f"/v1/datasets/{NAME}"), 422, "dataset-invalid")
    assert problem["errors"][0]["line"] == 2


def test_an_unknown_data_set_is_not_found(gateway: RunningGateway) -> None:
    """Encoded dots and slashes lead nowhere either."""
    for name in ("nowhere", "..%2Ftown", "%2E%2E"):
        response = gateway.client.get(f"/v1/datasets/{name}")
        assert response.status_code == 404, name
