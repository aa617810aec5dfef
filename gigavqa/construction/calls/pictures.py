"""Addresses of the pictures that calls show: below the data root by name, others uploaded once."""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode

from gigavqa.client.asynchronous import AsyncClient
from gigavqa.client.errors import NotFoundError
from gigavqa.construction.build_folder import BuildFolder, digest_file
from gigavqa.construction.calls.errors import CallInvalidError
from gigavqa.construction.calls.model_call import CallPicture, ModelCall

_UPLOADS = "calls/uploads.json"
_SCHEME = "gigavqa:"


class PictureAddresses:
    """Finds or makes the address of each picture. `data` is a data root that the gateway has, too, if there is one.

    Uploads are kept by content in the build's folder, and looked for at the gateway once a run.
    """

    def __init__(self, folder: BuildFolder, data: Path | None) -> None:
        self._folder = folder
        self._data = data.resolve() if data else None
        self._uploads: dict[str, str] = {}
        if folder.file(_UPLOADS).is_file():
            self._uploads = json.loads(folder.file(_UPLOADS).read_bytes())
        self._sure: set[str] = set()

    async def of(self, client: AsyncClient, call: ModelCall) -> list[str]:
        """Return the addresses of a call's pictures. Raises CallInvalidError where a file is another than it was."""
        return [f"{_SCHEME}{await self._name(client, one)}{_query(one.document())}" for one in call.pictures]

    async def _name(self, client: AsyncClient, picture: CallPicture) -> str:
        path = picture.path.resolve()
        if self._data and path.is_relative_to(self._data):
            return quote(path.relative_to(self._data).as_posix())
        if picture.content not in self._sure:
            known = self._uploads.get(picture.content)
            if known is None or not await _is_there(client, known):
                await self._upload(client, picture)
            self._sure.add(picture.content)
        return self._uploads[picture.content]

    async def _upload(self, client: AsyncClient, picture: CallPicture) -> None:
        if digest_file(picture.path) != picture.content:
            raise CallInvalidError(f"{picture.path} changed since the call was made; make the build's calls anew")
        kept = await client.upload(picture.path, purpose="vision")
        self._uploads[picture.content] = str(kept["id"])
        self._folder.write_json(_UPLOADS, self._uploads)


async def _is_there(client: AsyncClient, file_id: str) -> bool:
    try:
        await client.file(file_id)
    except NotFoundError:
        return False
    return True


def _query(how: Mapping[str, str]) -> str:
    usual = {"region": "full", "sizing": "native", "show": ""}
    said = {name: how[name] for name, value in usual.items() if how[name] != value}
    return f"?{urlencode(said)}" if said else ""
