"""The least a Streamlit page can do: a slider and its value as text."""

import streamlit as st

st.text(st.slider("value", 0, 100, 50))
