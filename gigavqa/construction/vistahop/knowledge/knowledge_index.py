"""The index of a file of triples: one SQLite file, made once for a content, within a bounded memory.

Facts lie on the disk from the first line on; what is sorted is sorted there. Of each entity and direction of each
property the rarest neighbours are kept when the index is made, so that one to which a million facts lead costs no more
to ask than another (decision 22).
"""

import hashlib
import itertools
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.construction.build_folder import digest_file
from gigavqa.construction.vistahop.knowledge.errors import KnowledgeError
from gigavqa.construction.vistahop.knowledge.facts import EntityText, Fact, FactStream, LeftOut
from gigavqa.construction.vistahop.knowledge.relations import PropertyTable, property_table
from gigavqa.construction.vistahop.knowledge.triple_files import read_facts
from gigavqa.runtime.work_progress import counted

SCHEMA_VERSION = 2
"""Counts up whenever another index would be made of the same file."""

KEPT_OF_GROUP = 30
"""Neighbours of an entity by one property in one direction that are kept: no more are ever looked at."""

_BATCH = 5_000
_CACHE_KIB = 64 * 1024
_MOST_SENTENCES = 100
_MOST_UNKNOWN = 200
_MOST_SAID = 500_000
_TABLES = """
CREATE TABLE texts (id TEXT, name TEXT, description TEXT, page TEXT, rank INTEGER);
CREATE TABLE raw (subject TEXT, property TEXT, object TEXT, item INTEGER);
CREATE TABLE names (folded TEXT, id TEXT);
"""
_FACTS = """
CREATE TABLE facts AS SELECT DISTINCT subject, property, object, item FROM raw WHERE NOT (item AND subject = object);
DROP TABLE raw;
CREATE TABLE frequencies AS SELECT id, count(*) AS frequency FROM (
  SELECT subject AS id FROM facts UNION ALL SELECT object AS id FROM facts WHERE item) GROUP BY id;
CREATE UNIQUE INDEX frequency_of ON frequencies (id);
"""
_LOOKUPS = f"""
CREATE TABLE entities AS SELECT id, name, description, page, frequency FROM (
  SELECT *, row_number() OVER (PARTITION BY id ORDER BY rank, name = id, description = '', name, description) AS best
  FROM texts) JOIN frequencies USING (id) WHERE best = 1;
DROP TABLE texts;
CREATE UNIQUE INDEX entity_of ON entities (id);
CREATE TABLE edges AS SELECT subject AS id, property, 1 AS outwards, object AS other FROM facts WHERE item
  UNION ALL SELECT object, property, 0, subject FROM facts WHERE item;
CREATE TABLE neighbours AS SELECT id, property, outwards, other FROM (
  SELECT edges.id, property, outwards, other,
    row_number() OVER (PARTITION BY edges.id, property, outwards ORDER BY frequency, drawn(other), other) AS place
  FROM edges JOIN entities ON entities.id = other) WHERE place <= {KEPT_OF_GROUP};
DROP TABLE edges;
CREATE INDEX neighbours_of ON neighbours (id);
CREATE TABLE literals AS SELECT subject AS id, property, object AS value FROM facts WHERE NOT item;
CREATE INDEX literals_of ON literals (id);
CREATE INDEX entities_called ON names (folded);
CREATE INDEX names_of ON names (id);
DROP TABLE facts;
DROP TABLE frequencies;
"""


class KnownEntity(NamedTuple):
    """An entity of the file; `frequency` is how many facts it takes part in there."""

    id: str
    name: str
    description: str
    page: str
    frequency: int


class KnowledgeEdge(NamedTuple):
    """A fact that leads to another entity; it is told the other way round where it is not `outwards`."""

    property: str
    outwards: bool
    other: KnownEntity


class KnowledgeIndex:
    """Finds entities and their facts. Never written; threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        self._database.create_function("drawn", 1, _drawn, deterministic=True)
        self.summary: dict[str, Any] = json.loads(self._one("SELECT document FROM summary", ())[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def entity(self, key: str) -> KnownEntity | None:
        """Return an entity by its id."""
        row = self._one("SELECT id, name, description, page, frequency FROM entities WHERE id = ?", (key,))
        return KnownEntity(*row) if row else None

    def find(self, name: str) -> list[KnownEntity]:
        """Return the entities of a name or an alias, whatever its case, the most frequent first, then by id."""
        rows = self._database.execute(
            "SELECT DISTINCT entities.id, name, description, page, frequency FROM names "
            "JOIN entities ON entities.id = names.id WHERE folded = ? ORDER BY frequency DESC, entities.id LIMIT 20",
            (_folded(name),),
        )
        return [KnownEntity(*row) for row in rows]

    def edges(self, key: str) -> list[KnowledgeEdge]:
        """Return the facts that are kept of an entity: by property, and of each the rarest entities first."""
        rows = self._database.execute(
            "SELECT property, outwards, entities.id, name, description, page, frequency FROM neighbours "
            "JOIN entities ON entities.id = other WHERE neighbours.id = ? "
            "ORDER BY property, outwards DESC, frequency, drawn(entities.id), entities.id",
            (key,),
        )
        return [KnowledgeEdge(row[0], bool(row[1]), KnownEntity(*row[2:])) for row in rows]

    def values(self, key: str) -> list[tuple[str, str]]:
        """Return an entity's properties whose values are no entities: years, numbers, texts."""
        return list(
            self._database.execute(
                "SELECT property, value FROM literals WHERE id = ? ORDER BY property, value LIMIT 200", (key,)
            )
        )

    def names(self, key: str) -> list[str]:
        """Return what an entity is called, aliases included, in small letters, sorted; at most 200."""
        ask = "SELECT DISTINCT folded FROM names WHERE id = ? ORDER BY folded LIMIT 200"
        return [name for (name,) in self._database.execute(ask, (key,))]

    def _one(self, statement: str, values: Sequence[Any]) -> Any:
        return self._database.execute(statement, values).fetchone()


def open_knowledge(
    path: Path, folder: Path, table: PropertyTable | None = None, languages: Sequence[str] = ("en",)
) -> KnowledgeIndex:
    """Return the index of a file of triples, from `folder`; made there where there is none of this content.

    Raises KnowledgeError.
    """
    table = table or property_table()
    how = repr((SCHEMA_VERSION, languages, list(table.order())))
    name = f"knowledge-{digest_file(path)[:32]}-{hashlib.sha256(how.encode()).hexdigest()[:8]}.sqlite"
    made = folder / name
    if not made.is_file():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = folder / f".{name}.{os.getpid()}"
        try:
            _make(partial, path, table, languages)
            with partial.open("rb") as file:
                os.fsync(file.fileno())
            partial.replace(made)
        except sqlite3.Error as error:
            raise KnowledgeError(f"no index of {path} can be made in {folder}: {error}") from error
        finally:
            partial.unlink(missing_ok=True)
    return KnowledgeIndex(made)


def _make(made: Path, path: Path, table: PropertyTable, languages: Sequence[str]) -> None:
    left, unknown = _LeftOutCounts(), Counter[str]()
    made.unlink(missing_ok=True)
    # What is not finished is thrown away, so SQLite need not be able to take anything back.
    with closing(sqlite3.connect(made, isolation_level=None)) as database:
        database.create_function("drawn", 1, _drawn, deterministic=True)
        database.executescript(
            f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=FILE; PRAGMA cache_size=-{_CACHE_KIB};"
            f"{_TABLES}"
        )
        database.execute("BEGIN")
        facts = _insert(database, counted(read_facts(path, languages), "facts read"), table, left, unknown)
        if not facts:
            told = left.sentences[0] if left.sentences else "it holds none of a known property"
            raise KnowledgeError(f"{path} tells no fact that can be used: {told}")
        of_themselves = _count(database, "raw WHERE item AND subject = object")
        database.executescript(_FACTS)
        kept, known = _count(database, "facts"), _count(database, "frequencies")
        database.executescript(_LOOKUPS)
        entities = _count(database, "entities")
        summary = {
            "facts": kept,
            "entities": entities,
            "unnamed": known - entities,
            "repeated": facts - of_themselves - kept,
            "of_themselves": of_themselves,
            "unknown_properties": dict(unknown.most_common(_MOST_UNKNOWN)),
            "unknown_facts": unknown.total(),
            "left_out": dict(sorted(left.counts.items())),
            "sentences": left.sentences,
        }
        database.execute("CREATE TABLE summary (document TEXT)")
        database.execute("INSERT INTO summary VALUES (?)", (json.dumps(summary),))
        database.execute("VACUUM")


def _count(database: sqlite3.Connection, what: str) -> int:
    return int(database.execute(f"SELECT count(*) FROM {what}").fetchone()[0])


class _LeftOutCounts:
    """What is left out of a file: counts by reason, and the first sentences."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.sentences: list[str] = []

    def add(self, one: LeftOut) -> None:
        self.counts[one.reason] += 1
        if len(self.sentences) < _MOST_SENTENCES:
            self.sentences.append(f"line {one.line}: {one.sentence}")


def _insert(
    database: sqlite3.Connection,
    stream: FactStream,
    table: PropertyTable,
    left: _LeftOutCounts,
    unknown: Counter[str],
) -> int:
    """Write what a file tells, some at a time; returns how many facts there were of known properties."""
    facts, said = 0, set[int]()  # a plain table says on each line what its ends are called
    for block in _blocks(stream):
        if len(said) > _MOST_SAID:
            said.clear()
        texts, raw, names = [], [], []
        for each in block:
            match each:
                case LeftOut():
                    left.add(each)
                case EntityText() if hash(each) not in said:
                    said.add(hash(each))
                    called = dict.fromkeys(_folded(name) for name in (each.name, *each.aliases) if name)
                    names += [(name, each.id) for name in called]
                    if each.name:
                        texts.append((each.id, each.name, each.description, each.page, int(each.name == each.id)))
                case Fact():
                    name = table.id_of(each.property)
                    if table.kind(name) is None:
                        unknown[name] += 1
                    else:
                        raw.append((each.subject, name, each.object, each.kind == "item"))
        database.executemany("INSERT INTO texts VALUES (?, ?, ?, ?, ?)", texts)
        database.executemany("INSERT INTO raw VALUES (?, ?, ?, ?)", raw)
        database.executemany("INSERT INTO names VALUES (?, ?)", names)
        facts += len(raw)
    return facts


def _blocks(stream: Iterable[Any]) -> Iterator[list[Any]]:
    stream = iter(stream)
    while block := list(itertools.islice(stream, _BATCH)):
        yield block


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _drawn(key: str) -> int:
    """Return a number that follows from an id alone, so that no order of lines decides between equals."""
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big")
