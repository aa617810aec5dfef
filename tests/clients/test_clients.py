"""Clients that nobody here wrote, unchanged, through each feature, where `make clients` installed them."""

from collections.abc import Iterator

import pytest

from tests.clients.trying import CLIENTS, ServedModels, is_installed, serving, try_client

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedModels]:
    """One gateway for all of them."""
    with serving(tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_works_unchanged(request: pytest.FixtureRequest, client: str) -> None:
    """Each feature is well, or the client has none such."""
    if not is_installed(client):
        pytest.skip("clients that others wrote are not installed (make clients)")
    told = try_client(client, request.getfixturevalue("served"))
    assert not {feature: each for feature, each in told.items() if each.startswith("FAILED")}
