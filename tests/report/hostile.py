"""An engine that puts hostile text into everything that a report could show of it."""

from __future__ import annotations

from typing import Any

from contextproof.conformance.contract.answers import Built
from contextproof.reference_impl.engine import ReferenceEngine
from contextproof.strategies.tables import CONTROLS, INVISIBLE, SPECIAL_TOKENS, STRUCTURED

#: What would run a script, load something, or end what it stands in.
ATTACKS = (
    "<script>document.title='PWNED'</script>",
    "<img src=x onerror=\"document.title='PWNED'\">",
    "</style></title></pre></details></section></main><svg onload=\"document.title='PWNED'\">",
    '" onmouseover="alert(1)" autofocus onfocus="document.title=\'PWNED\'" x="',
    "{{ 7 * 7 }}{% raw %}{{ document }}",
    "<!-- <iframe srcdoc=\"<script>parent.document.title='PWNED'</script>\">",
    "javascript:alert(1) [x](javascript:alert(1)) ![x](http://example.invalid/x.png) | `x` | @someone",
    "::error title=forged::forged%0A::stop-commands::x",
)
#: The build at which it breaks down, once.
_BREAKS = 60
TEXT = " ".join((*ATTACKS, *(str(text) for text in (*STRUCTURED, *SPECIAL_TOKENS, *CONTROLS, *INVISIBLE))))


class HostileEngine(ReferenceEngine):
    """The reference, with hostile text for its name, in a prefix that changes, and in what it raises."""

    def __init__(self) -> None:
        super().__init__()
        self.manifest = self.manifest.model_copy(update={"name": TEXT, "version": TEXT})
        self.times = 0

    def build(self, context: Any, plan: Any, inputs: Any) -> Any:
        self.times += 1
        if self.times == _BREAKS:
            raise RuntimeError(TEXT)
        built = super().build(context, plan, inputs)
        if not isinstance(built, Built):
            return built
        first, *rest = built.request.blocks
        block = first.model_copy(update={"text": f"{self.times} {TEXT}", "item_id": TEXT, "source": TEXT})
        request = built.request.model_copy(update={"blocks": (block, *rest), "prefix_sha256": TEXT})
        return built.model_copy(update={"request": request})
