// Puts the sheet of sliders on a page of Streamlit.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".rwn-sheet");
  const sheet = (root.rwnSheet ??= new Sheet(root));
  sheet.setData(JSON.parse(new TextDecoder().decode(data)));
  return () => setTimeout(() => root.isConnected || sheet.remove());
}
