"""`gigavqa admin corpus`: the index of a corpus, and what a query finds in it."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gigavqa.cli.arguments import JsonOption
from gigavqa.cli.console import out, print_json
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.retrieval.index import Index, open_index
from gigavqa.retrieval.sources import MAX_HITS, SummarizerName, write_result
from gigavqa.runtime.home import Home

app = typer.Typer(
    help="""Make the index of a corpus, and search it as models do: pages that are found, and the text of the result.

    \b
    gigavqa admin corpus build demo/corpus
    gigavqa admin corpus search demo/corpus "who founded Norrland Works"
    """,
    no_args_is_help=True,
)

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="A folder of .jsonl files, or its name below the data root.")
]
Summarizer = Annotated[
    SummarizerName, typer.Option("--summarizer", help="How pages become the text that a model is shown.")
]


@app.command()
def build(folder: Folder, json: JsonOption = False) -> None:
    """Check every document of a corpus, and make its index unless it is there; a worker does the same when it needs it.

    \b
    gigavqa admin corpus build demo/corpus
    gigavqa admin corpus build demo/corpus --json | jq -r .digest
    """
    index = _open(folder)
    if json:
        print_json({"digest": index.digest, "documents": len(index), "index": str(index.path)})
    else:
        out.print(f"{len(index)} documents\ndigest {index.digest}\nindex  {index.path}", markup=False)


@app.command()
def search(
    folder: Folder,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is looked for, in any words.")],
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=MAX_HITS, help="Most pages.")] = 3,
    summarizer: Summarizer = "extractive/1",
    json: JsonOption = False,
) -> None:
    """Search a corpus: the pages, best first, then the very text that a model would be shown.

    \b
    gigavqa admin corpus search demo/corpus "who founded Norrland Works"
    gigavqa admin corpus search demo/corpus heron -k 20 --json | jq -r '.pages[].id'
    """
    pages = _open(folder).search(query, top_k)
    result = write_result(query, pages, summarizer)
    if json:
        print_json({"pages": [asdict(page) for page in pages], "result": result})
    elif not pages:
        out.print("no page has any of these words", markup=False)
    else:
        columns = (TableColumn("id"), TableColumn("title", least=16), TableColumn("snippet", leaves=1, least=24))
        print_table(columns, [[page.id, page.title, page.snippet] for page in pages], more="`--json` has them")
        out.print(f"\n{result}", markup=False)


def _open(folder: Path) -> Index:
    home = Home.from_environment()
    given = folder.expanduser()
    return open_index(given if given.is_dir() else home.data / folder, home.indexes)
