// The channel that the components of a page of Streamlit share.

const channel = (window.rwnChannel ??= new Channel());
