"""The list of pages, and nothing else."""

from pathlib import Path

import streamlit as st

import rwn_ui
from rwn_ui.assets import provide_plotly

provide_plotly(Path(__file__).parent / "static")

st.set_page_config(
    page_title="RWN",
    page_icon=str(Path(rwn_ui.__file__).parent / "icon.png"),
    layout="wide",
    initial_sidebar_state="expanded",
)
st.navigation(
    [
        st.Page("pages/data.py", title="Data", icon=":material/table:"),
        st.Page("pages/tune.py", title="Tune", icon=":material/tune:", default=True),
    ],
    position="top",
).run()
