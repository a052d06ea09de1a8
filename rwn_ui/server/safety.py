"""Options of every start of the server, alone or behind a proxy; a page under others stops."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

ADDRESS = "127.0.0.1"

SAFE_OPTIONS: Mapping[str, bool | int | str | tuple[str, ...]] = MappingProxyType(
    {
        "browser.gatherUsageStats": False,
        "client.disableDataExport": True,
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "client.showSidebarNavigation": False,
        "client.toolbarMode": "viewer",
        "logger.hideWelcomeMessage": True,
        "logger.level": "warning",
        "runner.magicEnabled": False,
        "runner.postScriptGC": False,
        "server.address": ADDRESS,
        "server.allowedHosts": (ADDRESS, "localhost"),
        "server.disconnectedSessionTTL": 30,
        "server.enableAgentApi": False,
        "server.enableCORS": True,
        "server.enableStaticServing": False,
        "server.enableXsrfProtection": True,
        "server.fileWatcherType": "none",
        "server.headless": True,
        "server.maxUploadSize": 500,
        "server.showEmailPrompt": False,
    }
)
"""Options of every start. They are flags, so that no other configuration file can undo them."""


def behind_proxy(hosts: Sequence[str]) -> dict[str, bool | int | str | tuple[str, ...]]:
    """The options of every start, with those of a server that a proxy hands on under names."""
    if not hosts:
        return dict(SAFE_OPTIONS)
    allowed = (ADDRESS, "localhost", *hosts)
    return {
        **SAFE_OPTIONS,
        "browser.serverAddress": hosts[0],  # pages of this name may connect, and no others
        "server.address": "0.0.0.0",
        "server.allowedHosts": allowed,
    }


_OF_THE_PLACE = ("server.address", "server.allowedHosts", "server.maxUploadSize")
"""What another place may need otherwise; of the hosts, all is never right."""


def require_safe_options() -> None:
    """Stop the page where the server was started with an option that is not safe."""
    import streamlit as st  # the launcher needs none

    unsafe = unsafe_options()
    if unsafe:
        st.error(
            f"The server was started with {', '.join(unsafe)}, which may let values out; start it "
            "with rwn app.",
            icon=":material/block:",
        )
        st.stop()


def unsafe_options() -> tuple[str, ...]:
    """The options that differ from those of `rwn app`, by name."""
    import streamlit as st  # the launcher needs none

    wrong = [
        name
        for name, value in SAFE_OPTIONS.items()
        if name not in _OF_THE_PLACE and not _is(name, value)
    ]
    hosts = st.get_option("server.allowedHosts")
    if not hosts or "*" in hosts:
        wrong.append("server.allowedHosts")
    return tuple(wrong)


def _is(name: str, value: object) -> bool:
    import streamlit as st

    # Streamlit reads the flag of one of its options as a text
    return str(st.get_option(name)).lower() == str(value).lower()
