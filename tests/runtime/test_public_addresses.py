"""Whom a process calls for somebody else: an IPv4 address is judged alike however an IPv6 address holds it."""

from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gigavqa.runtime.public_addresses import AddressRefusedError, is_public, parse_url

FORMS = {
    "mapped": lambda number: 0xFFFF << 32 | number,
    "compatible": lambda number: number,
    "SIIT": lambda number: 0xFFFF << 48 | number,
    "ISATAP": lambda number: 0x20014860 << 96 | 0x5EFE << 32 | number,
    "ISATAP of a global address": lambda number: 0x20014860 << 96 | 0x02005EFE << 32 | number,
    "NAT64": lambda number: 0x64FF9B << 96 | number,
    "6to4": lambda number: 0x2002 << 112 | number << 80,
    "6to4 with a host": lambda number: 0x2002 << 112 | number << 80 | 1,
    "a Teredo client": lambda number: 0x20010000 << 96 | int(IPv4Address("8.8.8.8")) << 64 | number ^ 0xFFFFFFFF,
    "a Teredo server": lambda number: 0x20010000 << 96 | number << 64 | int(IPv4Address("8.8.8.8")) ^ 0xFFFFFFFF,
}
INSIDE = ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "0.0.0.0"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("address", [*INSIDE, "8.8.8.8", "93.184.216.34"])
def test_an_ipv4_address_is_as_public_within_an_ipv6_address(form: str, address: str) -> None:
    """Whatever leads there: a translator, a tunnel, or the machine itself."""
    within = str(IPv6Address(FORMS[form](int(IPv4Address(address)))))
    assert is_public(within) is is_public(address) is (address not in INSIDE)


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(FORMS)))
def test_no_private_address_is_public_within_another(number: int, form: str) -> None:
    """Of all that there are."""
    if not is_public(str(IPv4Address(number))):
        assert not is_public(str(IPv6Address(FORMS[form](number))))


@pytest.mark.parametrize("address", ["192.88.99.1", "168.63.129.16", "fec0::1", "3fff::1", "5f00::1", "100::1"])
def test_what_is_nobodys_or_a_clouds_own_is_not_called(address: str) -> None:
    """Whatever Python says of it."""
    assert not is_public(address)


@given(st.integers(0, 2**80 - 1))
def test_nothing_of_a_networks_own_translation_is_called(number: int) -> None:
    """It alone knows where its addresses lead."""
    assert not is_public(str(IPv6Address(0x64FF9B0001 << 80 | number)))


@given(st.text(max_size=60))
@example("[::1/x")
@example("[")
@example("x:99999999999999999999")
@example("x\x01")
@example("ex\u00e4mple.org")
def test_an_address_is_taken_apart_or_refused(text: str) -> None:
    """Never anything else, and what is taken apart has a host of ASCII, and a port that is one."""
    try:
        parts = parse_url(f"http://{text}")
    except AddressRefusedError as error:
        assert len(str(error)) < 1000
        return
    assert parts == urlsplit(f"http://{text}")
    assert parts.netloc.isascii()
    assert parts.port is None or 0 < parts.port < 65536
