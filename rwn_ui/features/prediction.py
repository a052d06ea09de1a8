"""Prediction on a holdout, run in the background at the user's word."""

from __future__ import annotations

import streamlit as st

from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.measures.utility.prediction import Prediction
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.server.messages import escaped, informed
from rwn_ui.state.session import Session

JOB = "prediction"
REPEATS = 5


def draw(session: Session) -> None:
    """A button, then progress and Cancel, then the errors."""
    question = session.data.schema.question
    st.markdown("### Prediction on a holdout")
    st.caption(
        "A random forest, a linear model and nearest neighbors are fitted on 70 % of the "
        "records, once as they are and once masked, and tested on the other 30 %, which are "
        "never masked."
    )
    if question is None:
        informed("Choose a response on the Data page to try this.")
        return
    work = session.user.work
    job = work.jobs.get(JOB)
    st.button(
        escaped(f"Predict {question.response} at this setting"),
        disabled=work.busy,
        key="prediction.run",
        on_click=_begin_prediction,
        args=(session,),
    )
    if not is_done(job, "prediction.cancel"):
        return
    trial: Prediction = job.result
    rows = trial.differences()
    error = trial.error_name.replace("1 - R2", "1 − R²")
    size = f"{trial.n_train:,} / {trial.n_test:,}"
    st.table(
        {
            "setting": [escaped(job.label)] * len(rows),
            "learner": [learner for learner, *_ in rows],
            f"{error}, fitted on the original": [f"{before:.3f}" for _, before, *_ in rows],
            "fitted on the masked": [f"{after:.3f}" for _, _, after, *_ in rows],
            "difference (standard error over splits)": [
                f"{change:+.3f} ({spread:.3f})" for *_, change, spread in rows
            ],
            "records to fit / to test": [size] * len(rows),
        }
    )


def _begin_prediction(session: Session) -> None:
    work = session.user.work
    if not work.busy:
        work.jobs[JOB] = Job(
            session.words,
            predict_on_holdout,
            words=f"Fitting forests at {session.words}",
            microdata=session.data,
            params=session.masking,
            seed=session.seed,
            repeats=REPEATS,
        )
