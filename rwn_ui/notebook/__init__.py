"""Opens the panel of the Tune page in a notebook: JupyterLab or marimo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rwn_core as rwn
from rwn_core.data.given_tables import as_microdata
from rwn_core.data.variable import checks_form

if TYPE_CHECKING:
    from rwn_ui.notebook.widget import TuneWidget


@checks_form
def tune(  # noqa: PLR0913 - what is not needed is given by its name
    microdata: Any,
    method: Any = "rwn",
    *,
    response: str | None = None,
    predictors: str | Sequence[str] = (),
    schema: rwn.Schema | None = None,
    policy: rwn.Policy | None = None,
    seed: int = 1,
) -> TuneWidget:
    """Draw the Tune page's panel in a notebook for a table: sliders, verdict, tiles and charts.

    Parameters
    ----------
    microdata : Microdata or data frame
    method : str or Method
        Key of a method, which begins at its standard preset, or a method with its parameters.
    response : str, optional
        Of the regression to keep. It can be chosen and changed on the panel, too: on the card of
        the regression, and in its full view.
    predictors : str or sequence of str
        What explains it; all other numbers if left out.
    schema : Schema, optional
        What each column is; guessed when left out.
    policy : Policy, optional
        The limits of the verdict; the usual policy when left out.
    seed : int
        Of the masked copy that is shown.

    Returns
    -------
    TuneWidget
        Its `setting` is the method with the parameters of the sliders; `mask()` draws a release.

    Raises
    ------
    RWNError
        The package anywidget is not installed.
    InputError
        The table cannot be masked.
    ParameterError
        The method is unknown, or a parameter is beyond the end of its slider.
    """
    try:
        from rwn_ui.notebook.widget import TuneWidget
    except ModuleNotFoundError as missing:
        if missing.name not in {"anywidget", "ipywidgets", "traitlets"}:
            raise
        raise rwn.RWNError(
            "tune needs the package anywidget: python -m pip install 'anywidget>=0.11,<0.12'."
        ) from None
    from rwn_ui.notebook.tuned_table import TunedTable

    data = as_microdata(microdata, schema)
    data = data.with_schema(data.schema.asking(response, predictors))
    return TuneWidget(TunedTable(data, method, policy=policy or rwn.Policy(), seed=seed))
