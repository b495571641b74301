"""Hypothesis settings of this project's own tests, the same on every machine.

Where ``CI`` is set Hypothesis would take a profile of its own. The plugin loads no profile ever: it
is installed in other people's environments.
"""

from hypothesis import settings

settings.register_profile(
    "contextproof-own-tests", derandomize=True, deadline=None, database=None, print_blob=True
)
settings.load_profile("contextproof-own-tests")
