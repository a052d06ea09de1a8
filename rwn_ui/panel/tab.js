// Names this browser tab and this browser to the server by random tokens, which lie in memory and in
// the browser's storage, never in an address. After a reload the server gets the earlier token. A
// new tab asks the other tabs of this browser for theirs. When the server stops, the message of
// Streamlit becomes one of this program.

const STORED = "rwn.tab";
const GONE = /Streamlit (server is not responding|still running)/;

class Tab {
  constructor() {
    this.others = new BroadcastChannel(STORED);
    this.others.onmessage = ({ data }) => this.hear(data);
    new MutationObserver(() => this.sayGone()).observe(document.body, { childList: true });
  }

  take(data, send) {
    this.send = send;
    this.data = data;
    const before = stored(sessionStorage, "");
    if (data.waits && this.answered !== data.token) {
      this.answered = data.token;
      return send("answer", { tab: before, browser: stored(localStorage, data.browser) });
    }
    if (!data.answered || before === data.token) return;
    store(sessionStorage, data.token);
    this.asking = !before;
    if (this.asking) this.others.postMessage({ ask: true });
  }

  /** Answer a new tab; take the first answer of another. */
  hear({ ask, token }) {
    if (ask && this.data) this.others.postMessage({ token: this.data.token });
    if (!token || !this.asking) return;
    this.asking = false;
    this.send("other", token);
  }

  sayGone() {
    for (const dialog of document.querySelectorAll("[role=dialog]:not(.rwn-gone)")) {
      if (!GONE.test(dialog.textContent)) continue;
      dialog.classList.add("rwn-gone");
      const words = document.createElement("p");
      words.textContent = this.data?.gone ?? "";
      dialog.append(words);
    }
  }
}

function stored(storage, otherwise) {
  const found = storage.getItem(STORED);
  if (!found && otherwise) store(storage, otherwise);
  return found ?? otherwise;
}

function store(storage, token) {
  storage.setItem(STORED, token);
}

export default function ({ data, setTriggerValue }) {
  (window.rwnTab ??= new Tab()).take(data, setTriggerValue);
}
