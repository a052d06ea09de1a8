"""The options under which the app's server starts, alone or behind a proxy."""

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
        "server.enableStaticServing": True,
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
