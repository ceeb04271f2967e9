"""Simulation of mechanical systems whose parts touch, stick, slip and break contact.

Five lines::

    import stiction as st
    sim = st.Simulation("scenes/gripper-slips.toml")   # or st.Scene() built in code, or a dictionary
    sim.run(0.5, progress=True)
    sim.contacts()                                     # structured array: bodies, point, normal, force, status
    sim.energy

``Scene`` describes a system, ``Model`` is its compiled form, ``State`` a value at a time, ``Simulation`` all of
them with a workspace, ``Batch`` many states of one model. ``solve_lcp``, ``solve_mixed``, ``solve_friction`` and
``decide`` solve problems given as arrays; ``accelerate``, ``shoot`` and ``converge`` ask about a scene. Every answer has its residual; errors are exceptions with the program's
own messages. Units are SI, names are those of the scene file. See ``docs/python.md``.
"""

from ._arrays import ContactProblem, NamedArray, StepDerivative
from ._core import (
    Batch,
    BatchReport,
    Model,
    Recording,
    Run,
    Scene,
    Simulation,
    SolveReport,
    State,
    StepReport,
    __version__,
    accelerate,
    capabilities,
    converge,
    decide,
    schema,
    shoot,
    solve_friction,
    solve_lcp,
    solve_mixed,
)
from ._errors import Error, Fault, RecordingError, RunWarning, SceneError, SceneWarning, StepError

__all__ = [
    "Batch",
    "BatchReport",
    "ContactProblem",
    "Error",
    "Fault",
    "Model",
    "NamedArray",
    "Recording",
    "RecordingError",
    "Run",
    "RunWarning",
    "Scene",
    "SceneError",
    "SceneWarning",
    "Simulation",
    "SolveReport",
    "State",
    "StepDerivative",
    "StepError",
    "StepReport",
    "__version__",
    "accelerate",
    "capabilities",
    "converge",
    "decide",
    "schema",
    "shoot",
    "solve_friction",
    "solve_lcp",
    "solve_mixed",
]


def __dir__() -> list[str]:
    return list(__all__)
