"""docs/api.md keeps up with the code."""

import re
from pathlib import Path
from typing import Any

import pytest

from gigavqa.service.app import create_app
from gigavqa.service.errors import BODY_MALFORMED, INTERNAL, PROBLEM_KINDS, REFUSED_WRITE, REQUEST_INVALID
from gigavqa.service.settings import GatewaySettings

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "api.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) /[^`]*)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)
HEADERS = {"if-none-match": "If-None-Match", "idempotency-key": "Idempotency-Key", "last-event-id": "Last-Event-ID"}
OF_OTHERS = ("remote.md", "viewer.md")  # they tell what other servers are asked
PAGES = sorted(page for page in DOCS.glob("*.md") if page.name not in OF_OTHERS)
NAMED = re.compile(r"\b(?:GET|POST|DELETE) (/[a-z0-9/{}_]+)|\$GIGAVQA_URL(/[a-z0-9/]+)")


@pytest.mark.parametrize(
    "slug",
    sorted({kind.slug for kind in (*PROBLEM_KINDS.values(), REQUEST_INVALID, BODY_MALFORMED, REFUSED_WRITE, INTERNAL)}),
)
def test_every_problem_is_documented(slug: str) -> None:
    """A client can look each type up."""
    assert f"`{slug}`" in PAGE


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The OpenAPI document."""
    environ = {"GIGAVQA_HOME": str(tmp_path_factory.mktemp("home"))}
    return create_app(GatewaySettings.from_environment(environ)).openapi()


def test_the_table_of_operations_is_the_description(document: dict[str, Any]) -> None:
    """Each operation has one row, of api.md or openai.md, with exactly its parameters and headers."""
    rows = [*ROW.findall(PAGE), *ROW.findall((DOCS / "openai.md").read_text(encoding="utf-8"))]
    told = {name: set(re.findall("`([^`]+)`", parameters)) for name, parameters in rows}
    assert len(told) == len(rows), "no operation has two rows"
    described = {
        f"{method.upper()} {path}": {one["name"] for one in operation.get("parameters", ()) if one["in"] != "path"}
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    described = {name: {_spelt(one) for one in parameters} for name, parameters in described.items()}
    assert told == described


def _spelt(parameter: str) -> str:
    """Headers as their standards write them; queries as they are."""
    return HEADERS.get(parameter, parameter)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_address_in_the_pages_is_one(page: Path, document: dict[str, Any]) -> None:
    """What a page tells somebody to ask for is a path of the description, whatever it calls what stands in braces."""
    paths = {re.sub(r"{[^}]*}", "{}", path) for path in document["paths"]} | {"/docs", "/openapi.json", "/v1"}
    named = {re.sub(r"{[^}]*}", "{}", one or other) for one, other in NAMED.findall(page.read_text(encoding="utf-8"))}
    assert {path for path in named if path.rstrip("/") not in paths and not path.endswith("/")} == set()
