"""Requirements that no fault breaks alone, and why: what violates one of them violates another as well."""

from __future__ import annotations

from typing import Final

#: By requirement: one sentence.
INSEPARABLE: Final[dict[str, str]] = {
    "CTX-01.2": "A class missing from the prefix is tools not as pinned (04.1), framing that differs (13.6) "
    "or content that is not whole (07.5); a strange type in it stands in the wrong region (01.1).",
    "CTX-01.4": "What is live and shows in the prefix shows in the request that holds it (04.4).",
    "CTX-02.1": "What stands at the wrong end is out of the declared order (02.3).",
    "CTX-02.2": "What stands between the blocks of the prefix is out of the declared order (02.3).",
    "CTX-03.2": "A prefix that changes within an epoch differs after a compaction too (12.1).",
    "CTX-03.3": "It is one hash an epoch (03.2) and no needless epoch (05.2), over one script.",
    "CTX-04.1": "Definitions that are not as pinned change the prefix (03.2), its content (13.3) or a later "
    "plan (05.6).",
    "CTX-06.2": "A request over the limit should have been compacted or refused (08.5, 10.5).",
    "CTX-08.6": "What gives way in a large window for no reason but time gives way without need (08.1).",
    "CTX-08.8": "What is missing, or there twice, takes or leaves room that other rules weigh (08.1, 08.9), "
    "or is not verbatim (08.3).",
    "CTX-08.9": "What gives up too early names the wrong class at times (08.5).",
    "CTX-09.3": "A pair torn by the cut is torn in the next request too (09.1).",
    "CTX-10.3": "What differs between two processes differs across a resume too (03.2, 13.5).",
    "CTX-10.5": "What is sent in spite of the checkpoint is covered and sent (08.8); a compaction asked for "
    "again over no less had nothing to gain or lost coverage (12.6, 12.7).",
    "CTX-11.2": "An estimate below its margin is too low for some text (11.6), or after an overrun (11.4).",
    "CTX-11.6": "Text that is estimated too low is so after an overrun too (11.4).",
    "CTX-11.7": "An estimate of more than twice the count is more than a quarter above it (11.5).",
    "CTX-12.8": "What a compaction did not spare is missing from the next request (08.3, 08.8).",
    "CTX-14.1": "What prose wrote into the state is not what the log's updates come to (14.5).",
    "CTX-14.7": "An entry that is missing or moved is not recovered from its block (13.3), or has none "
    "(08.3).",
    "CTX-16.1": "History of other bytes has two renderings (16.2); a pointer that is whole again gives way "
    "again too soon (16.3).",
}
