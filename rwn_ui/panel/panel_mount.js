// Puts the panel on a page of Streamlit.

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".rwn-panel");
  const panel = (root.rwnPanel ??= new Panel(root));
  panel.pick = (point) => setTriggerValue("picked", point);
  panel.run = (edits) => setTriggerValue("edits", edits);
  panel.setData(data);
  // Streamlit also cleans up after a call that newer data overtook: only a panel that has left the
  // page is taken down.
  return () => setTimeout(() => root.isConnected || panel.remove());
}
