"""The list of pages, and nothing else."""

import streamlit as st

from rwn_ui.panel.guide import guide
from rwn_ui.server.assets import icon
from rwn_ui.server.environment import in_class
from rwn_ui.server.login import require_login
from rwn_ui.server.messages import guarded, serve_plotly
from rwn_ui.server.safety import require_safe_options
from rwn_ui.state import visit


def main() -> None:
    """Show the page that the address names."""
    st.set_page_config(
        page_title="RWN",
        page_icon=icon(),
        layout="wide",
        initial_sidebar_state="auto",  # next to the page; on a narrow screen it would cover it
    )
    serve_plotly()
    pages = [
        st.Page("pages/data.py", title="Data", icon=":material/table:"),
        st.Page("pages/tune.py", title="Tune", icon=":material/tune:", default=not in_class()),
        st.Page("pages/utility.py", title="Utility", icon=":material/query_stats:"),
        st.Page("pages/risk.py", title="Risk", icon=":material/shield:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:"),
        st.Page("pages/find.py", title="Find", icon=":material/search:"),
        st.Page("pages/release.py", title="Release", icon=":material/outbox:"),
    ]
    paper = st.Page("pages/paper.py", title="Paper", icon=":material/article:")
    learn = st.Page("pages/learn.py", title="Learn", icon=":material/school:", default=in_class())
    old = st.Page(_to_find, title="Find", url_path="sweep", visibility="hidden")
    shown = [learn, *pages, paper] if in_class() else [*pages, learn, paper]
    page = st.navigation([*shown, old], position="top")
    name = page.title.lower()
    session = visit.current().session
    if name != "tune" and session is not None:
        session.user.endpoint.close()  # Tune has been left
    guide(name)
    with guarded():  # the outer wall: what a page does not catch itself
        require_safe_options()
        require_login()
        with visit.page_of_tab():
            page.run()


def _to_find() -> None:
    """Lead an address of the page's earlier name, with its setting, to the page."""
    st.switch_page("pages/find.py", query_params=dict(st.query_params))


# a worker process imports this file again, under another name, and must not draw
if __name__ == "__main__":
    main()
