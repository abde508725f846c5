"""Runs the threads of one block that meet at barriers and exchange values between lanes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

from tmigrate.tilelang.interpreter.memory import FaultError

Order = Callable[[Iterable[Any]], list[Any]]
_ALL = 0xFFFFFFFF


@dataclass(slots=True)
class Lane:
    """One thread: its rank in the block, its generator, what it waits for (None: it can run)."""

    rank: int
    body: Generator[Any, Any, Any]
    waiting: tuple[Any, ...] | None = None
    answer: Any = None
    finished: bool = False
    result: Any = None

    def advance(self) -> None:
        """Run up to the next meeting point or the end."""
        try:
            self.waiting = self.body.send(self.answer)
        except StopIteration as end:
            self.finished, self.waiting, self.result = True, None, end.value
        self.answer = None


def run_block(lanes: list[Lane], width: int, order: Order = list) -> Any:
    """Run all threads of a block to their ends; the first one's result.

    Faults: deadlock, where some wait and no meeting can take place.
    """
    while True:
        for lane in order(lanes):
            if not lane.finished and lane.waiting is None:
                lane.advance()
        live = [lane for lane in lanes if not lane.finished]
        if not live:
            return lanes[0].result
        if any(lane.waiting is None for lane in live):
            continue
        met = False
        for first in range(0, len(lanes), width):
            met |= _meet_in_warp(lanes[first : first + width], width)
        if not met and not _meet_in_block(live):
            words = sorted({str(lane.waiting[0]) for lane in live if lane.waiting})
            raise FaultError("deadlock", f"threads wait at {' and '.join(words)}, and not all can arrive")


def _meet_in_block(live: list[Lane]) -> bool:
    """A barrier: all threads that have not exited wait at one (any of its forms of the same name)."""
    words = {lane.waiting[0] for lane in live if lane.waiting}
    if len(words) != 1 or not next(iter(words)).startswith("syncthreads"):
        return False
    word = next(iter(words))
    values = [bool(lane.waiting[1]) for lane in live if lane.waiting and len(lane.waiting) > 1]
    answer = {
        "syncthreads_count": sum(values),
        "syncthreads_and": int(all(values)),
        "syncthreads_or": int(any(values)),
    }.get(word)
    for lane in live:
        lane.waiting, lane.answer = None, answer
    return True


def _meet_in_warp(warp: list[Lane], width: int) -> bool:
    """Lane operations whose whole mask has arrived."""
    met = False
    groups: dict[tuple[str, int], list[Lane]] = {}
    for lane in warp:
        if lane.waiting is None or lane.waiting[0].startswith("syncthreads"):
            continue
        mask = lane.waiting[1] & _ALL if len(lane.waiting) > 1 else _ALL
        groups.setdefault((lane.waiting[0], mask), []).append(lane)
    for (word, mask), lanes in groups.items():
        together = word == "activemask"
        expected = [v for v in warp if mask >> (v.rank % width) & 1 and not v.finished]
        if not together and len(lanes) != len(expected):
            continue
        _exchange(word, {lane.rank % width: lane for lane in lanes}, width)
        met = True
    return met


def _exchange(word: str, lanes: dict[int, Lane], width: int) -> None:
    """Give each lane of a meeting its answer."""
    waiting = {k: lane.waiting for k, lane in lanes.items() if lane.waiting is not None}
    answers: dict[int, Any] = dict.fromkeys(lanes)
    if word.startswith("shfl"):
        answers = {k: _shuffled(word, k, waiting, width) for k in lanes}
    elif word in ("ballot_sync", "any_sync", "all_sync"):
        votes = {k: bool(w[2]) for k, w in waiting.items()}
        ballot = sum(1 << k for k, vote in votes.items() if vote)
        vote = {"ballot_sync": ballot, "any_sync": any(votes.values()), "all_sync": all(votes.values())}[word]
        answers = dict.fromkeys(lanes, vote)
    elif word == "activemask":
        answers = dict.fromkeys(lanes, sum(1 << k for k in lanes))
    for k, lane in lanes.items():
        lane.waiting, lane.answer = None, answers[k]


def _shuffled(word: str, k: int, waiting: dict[int, tuple[Any, ...]], width: int) -> Any:
    """The value that lane k receives; its own where the source is outside its segment (as in PTX)."""
    _, _, own, operand, segment = waiting[k]
    segment = segment if 0 < segment <= width else width
    first = k - k % segment
    if word == "shfl_sync":
        source = first + operand % segment
    elif word == "shfl_up_sync":
        source = k - operand if k - operand >= first else k
    elif word == "shfl_down_sync":
        source = k + operand if k + operand < first + segment else k
    else:
        source = k ^ operand
        source = source if source < first + segment else k
    if source not in waiting:
        raise FaultError("lanes", f"lane {k} reads lane {source}, which does not take part")
    return waiting[source][2]
