"""Never answers."""

import time

from speaking import calls

for _call in calls():
    time.sleep(600)
