"""Environments that lead to stores of this machine, each with credentials that are nobody's."""

import base64
import json
import os
from pathlib import Path

import pytest

SCHEMES = ("s3", "gs", "az")


def lead_to_store(scheme: str, address: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a scheme's addresses be asked for at a server."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    told = {"s3": _amazon, "gs": _google, "az": _azure}[scheme](address, folder)
    for name, value in told.items():
        monkeypatch.setenv(name, value)


def _amazon(address: str, folder: Path) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "ada",
        "AWS_SECRET_ACCESS_KEY": "secret-of-ada",
        "AWS_SESSION_TOKEN": "token-of-ada",
        "AWS_REGION": "us-east-1",
    }


def _azure(address: str, folder: Path) -> dict[str, str]:
    return {
        "AZURE_STORAGE_ENDPOINT": address,
        "AZURE_STORAGE_ACCOUNT_NAME": "lab",
        "AZURE_STORAGE_ACCOUNT_KEY": base64.b64encode(b"secret-of-ada").decode(),
    }


def _google(address: str, folder: Path) -> dict[str, str]:
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    forms = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    key = rsa.generate_private_key(65537, 2048)
    text = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()).decode()
    account = {
        "type": "service_account",
        "client_email": "ada@lab.example",
        "private_key": text,
        "private_key_id": "1",
        "gcs_base_url": address,
        "token_uri": "http://127.0.0.1:9/",
    }
    (folder / "account.json").write_text(json.dumps(account))
    return {"GOOGLE_SERVICE_ACCOUNT": str(folder / "account.json")}
