"""A browser of the app without a screen: pages, sliders and uploads by Streamlit's own protocol."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

_LONGEST = 300.0  # seconds that a run may take


@dataclass(slots=True)
class Page:
    """What the server has sent of the page that is open."""

    # by the ids of their components
    sliders: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    # uploader, erase: ids; empty where there is none
    uploader: str = ""
    erase: str = ""
    deferred: list[str] = field(default_factory=list)  # ids of files that can be asked for
    # by the id of an element, the fragment that draws it
    fragments: dict[str, str] = field(default_factory=dict)
    tab: str = ""  # the component that waits for what the tab was before
    errors: list[str] = field(default_factory=list)  # messages that say that something went wrong


class Client:
    """One user; `heard` is given every message as it comes."""

    def __init__(self, port: int, heard: Any = None) -> None:
        self.port, self.page, self.pages = port, Page(), dict[str, str]()
        self.session, self._hash, self._states = "", "", dict[str, WidgetState]()
        self._heard = heard or (lambda message: None)
        self._cookie, self._last = "", b""

    async def open(self) -> float:
        """Arrive at the page that opens first; seconds until it is drawn."""
        self._cookie = _cookie(f"http://127.0.0.1:{self.port}/_stcore/health")
        self._socket = await websockets.connect(
            f"ws://127.0.0.1:{self.port}/_stcore/stream",
            subprotocols=[websockets.Subprotocol("streamlit")],
            origin=websockets.Origin(f"http://127.0.0.1:{self.port}"),
            max_size=None,
            # a browser reads whether or not somebody looks; a client that does not is dropped
            max_queue=None,
            ping_interval=None,
        )
        return await self.run()

    async def close(self) -> None:
        """Leave."""
        await self._socket.close()

    async def run(self, *, fragment: str = "", trigger: WidgetState | None = None) -> float:
        """Have the page, or a part of it, drawn; seconds until it is there."""
        sent = BackMsg()
        sent.rerun_script.page_script_hash = self._hash
        sent.rerun_script.fragment_id = fragment
        states = [*self._states.values(), *([trigger] if trigger else [])]
        sent.rerun_script.widget_states.widgets.extend(states)
        self._last = b""
        if not fragment:
            self.page = Page()
        begun = time.perf_counter()
        await self._socket.send(sent.SerializeToString())
        while True:
            message = await self._next()
            if message.WhichOneof("type") == "script_finished" and message.script_finished != 2:
                if not self.page.tab:
                    return time.perf_counter() - begun
                answer = _event(self.page.tab, "answer", {"tab": "", "browser": ""})
                return time.perf_counter() - begun + await self.run(trigger=answer)

    async def visit(self, name: str) -> float:
        """Go to another page, by its address."""
        self._hash = self.pages[name]
        return await self.run()

    async def move(self, name: str, share: float) -> float:
        """Move a slider to a share of its way; seconds until the picture is there."""
        for id_, sliders in self.page.sliders.items():
            for slider in sliders:
                if slider["name"] == name:
                    value = slider["low"] + share * (slider["high"] - slider["low"])
                    value = round(value, slider["digits"])
                    edits = _event(id_, "edits", [{"levers": {name: value}}])
                    fragment = self.page.fragments.get(id_, "")
                    return await self.run(fragment=fragment, trigger=edits)
        raise LookupError(f"no slider {name}")

    async def upload(self, name: str, content: bytes, shown: bytes) -> None:
        """Open a file on the page Data, and wait until its table is there.

        Parameters
        ----------
        name : str
        content : bytes
        shown : bytes
            What the page then says.
        """
        request = BackMsg()
        request.file_urls_request.request_id = "files"
        request.file_urls_request.session_id = self.session
        request.file_urls_request.file_names.append(name)
        await self._socket.send(request.SerializeToString())
        urls = None
        while urls is None:
            message = await self._next()
            if message.WhichOneof("type") == "file_urls_response":
                urls = message.file_urls_response.file_urls[0]
        await asyncio.to_thread(self._put, urls.upload_url, name, content)
        state = FileUploaderState()
        info = state.uploaded_file_info.add(name=name, size=len(content), file_id=urls.file_id)
        info.file_urls.CopyFrom(urls)
        chosen = WidgetState(id=self.page.uploader)
        chosen.file_uploader_state_value.CopyFrom(state)
        self._states[self.page.uploader] = chosen
        await self.run()
        end = time.monotonic() + _LONGEST
        while shown not in self._last and time.monotonic() < end:
            await asyncio.sleep(0.3)
            await self.run()

    async def erase(self) -> float:
        """Click on "Erase now"."""
        return await self.run(trigger=WidgetState(id=self.page.erase, trigger_value=True))

    async def address_of(self, file: str) -> str:
        """The address of a file that is made when it is asked for."""
        request = BackMsg()
        request.backend_operation_request.request_id = "file"
        request.backend_operation_request.session_id = self.session
        request.backend_operation_request.deferred_file.file_id = file
        await self._socket.send(request.SerializeToString())
        while True:
            message = await self._next()
            if message.WhichOneof("type") == "backend_operation_response":
                return str(message.backend_operation_response.deferred_file.url)

    def fetch(self, address: str) -> int:
        """The status with which an address answers."""
        return fetched(f"http://127.0.0.1:{self.port}{address}")

    def _put(self, url: str, name: str, content: bytes) -> None:
        line = b"----rwn"
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{url}",
            data=b"--" + line + b"\r\n" + head + content + b"\r\n--" + line + b"--\r\n",
            method="PUT",
            headers={
                "Content-Type": f"multipart/form-data; boundary={line.decode()}",
                "X-Xsrftoken": self._cookie,
                "Cookie": f"_streamlit_xsrf={self._cookie}",
            },
        )
        _open(request).close()

    async def _next(self) -> ForwardMsg:
        data = await asyncio.wait_for(self._socket.recv(), _LONGEST)
        assert isinstance(data, bytes)
        self._heard(data)
        self._last += data
        message = ForwardMsg()
        message.ParseFromString(data)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
        elif kind == "navigation":
            self.pages = {
                page.url_pathname: page.page_script_hash for page in message.navigation.app_pages
            }
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._element(message.delta.new_element, message.delta.fragment_id)
        return message

    def _element(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "bidi_component":
            self._component(element.bidi_component, fragment)
        elif kind == "file_uploader" and not self.page.uploader:
            self.page.uploader = element.file_uploader.id
        elif kind == "button" and element.button.label == "Erase now":
            self.page.erase = element.button.id
        elif kind == "download_button" and element.download_button.deferred_file_id:
            self.page.deferred.append(element.download_button.deferred_file_id)
        elif kind == "exception":
            self.page.errors.append(element.exception.type)
        elif kind == "alert" and element.alert.format == 1:
            self.page.errors.append(element.alert.body)

    def _component(self, part: Any, fragment: str) -> None:
        self._states[part.id] = WidgetState(id=part.id, json_value="{}")
        said = json.loads(part.bytes or part.json or "{}")
        if part.component_name.endswith("rwn_tab") and said["waits"]:
            self.page.tab = part.id
        elif "sliders" in said:
            self.page.sliders[part.id] = said["sliders"]
            self.page.fragments[part.id] = fragment


def _event(component: str, name: str, value: Any) -> WidgetState:
    """What a component sends once."""
    said = json.dumps([{"event": name, "value": value}])
    return WidgetState(id=_make_trigger_id(component, "events"), json_trigger_value=said)


def fetched(address: str) -> int:
    """The status with which an address answers."""
    try:
        with _open(urllib.request.Request(address)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


def _open(request: urllib.request.Request) -> Any:
    # never by a proxy: the server is on this machine
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60)


def _cookie(address: str) -> str:
    """The token that an upload must show."""
    with _open(urllib.request.Request(address)) as answer:
        for line in answer.headers.get_all("Set-Cookie") or []:
            if line.startswith("_streamlit_xsrf="):
                return line.partition("=")[2].partition(";")[0].strip('"')
    return ""
