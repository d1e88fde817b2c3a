# SPDX-License-Identifier: BSD-3-Clause
"""A model of one message that several processes copy, chunk by chunk: what it costs with more cores than there are here.

Who takes part claims chunks in turn: a claim takes as long as handing over a cache line among them; copying one takes as
long as the memory allows for that number of copies at the same time. Chunks are as pml/dynamic cuts them (frameworks/shm/claims).
"""
import dataclasses
import heapq

CHUNK_LEAST, CHUNK_MOST, PAGE = 16384, 1 << 20, 4096


@dataclasses.dataclass
class Costs:
    """Times in microseconds; rates in bytes per microsecond."""
    copy_rate: float       # of one process alone
    saturation: float      # as many processes at once copy as much as all together can
    claim_us: float        # one claim, of two processes
    invite_us: float = 0.5  # until the sender has been told
    notice_us: float = 0.5  # until a process that waits has seen that there is something

    def rate(self, active):
        """Of one of `active` processes that copy at the same time."""
        return self.copy_rate * min(1.0, self.saturation / active)


def chunk_bytes(size, participants):
    chunk = min(max(size // (2 * participants), CHUNK_LEAST), CHUNK_MOST)
    return (chunk + PAGE - 1) // PAGE * PAGE


def copy_us(size, helpers, costs):
    """Microseconds from the opening of a copy to its last byte: receiver, sender, and `helpers` that help."""
    chunk = chunk_bytes(size, 2 + helpers)
    free = [(0.0, 0), (costs.invite_us, 1), *((costs.notice_us, 2 + number) for number in range(helpers))]
    heapq.heapify(free)
    word_free, end, at = 0.0, 0.0, 0
    chunks = (size + chunk - 1) // chunk
    while at < size:
        now, who = heapq.heappop(free)
        # Claims follow each other: the line is with one process at a time.
        word_free = max(now, word_free) + costs.claim_us
        active = min(len(free) + 1, chunks)
        done = word_free + min(chunk, size - at) / costs.rate(active)
        at += chunk
        end = max(end, done)
        heapq.heappush(free, (done, who))
    return end


def alone_us(size, costs):
    """The receiver copies by itself."""
    return size / costs.copy_rate
