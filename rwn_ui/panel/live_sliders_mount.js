// Puts sliders on a page of Streamlit.

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".rwn-sliders");
  const sliders = (root.rwnSliders ??= new Sliders(root));
  sliders.setData(JSON.parse(new TextDecoder().decode(data)));
  return () => setTimeout(() => root.isConnected || sliders.remove());
}
