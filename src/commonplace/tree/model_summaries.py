"""Summaries by a model, within a daily budget: one call for one node, made once, paid for in the ledger, and checked.

`settle` asks here for each node of the tree. Where it gets a reason in place of sentences, it takes the extract, and
comes back later. A call is a job of the state: whoever claims it makes it, and one that failed waits the longer the
more often it did. What a call may cost at most stands in the ledger before it is made, and what it did cost afterwards:
so several processes together keep to the budget, and one that is killed leaves the estimate.

Reasons, besides those of `validate.check_summary` and of a ServiceFailed:

    budget_spent       the tokens of the day (UTC) would not be enough
    waiting            another process makes this call, or it failed and has to wait
    stopped            three calls in a row failed: no more are made by this object
    state_unusable     what a call costs could not be written down
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from commonplace.model import times
from commonplace.model.costs import ModelCost, TokenPrice
from commonplace.model.errors import ServiceFailed, StorageError
from commonplace.model.lazy import Log
from commonplace.model.scope import Space
from commonplace.state.port import State
from commonplace.tree.summarise import Summariser, SummaryRequest, SummarySentence, estimate_call
from commonplace.tree.validate import take_sentences

log = Log("commonplace.tree")
_MOST_FAILURES = 3  # in a row
_UNPAID = ("rate_limited", "redirected", "unreachable", "status_")  # such a service has read nothing that it bills


class SummaryOutcome(NamedTuple):
    """The sentences of a summary, or why there are none."""

    sentences: tuple[SummarySentence, ...] = ()
    reason: str = ""


class ModelSummaries:
    """The summaries that one run of `settle` asks a model for."""

    def __init__(
        self,
        summariser: Summariser,
        state: State,
        space: Space,
        *,
        daily_tokens: int,
        price: TokenPrice,
        clock: Callable[[], str] = times.now,
    ) -> None:
        self._summariser, self._state, self._space = summariser, state, space
        self._daily_tokens, self._price, self._clock = daily_tokens, price, clock
        self._failures = 0  # in a row
        self._is_stopped = False
        self.model = summariser.model

    def summarise_with_budget(self, name: str, request: SummaryRequest) -> SummaryOutcome:
        """Return the sentences of a summary, or the reason why there are none.

        `name` is that of the job: the node and a hash of what it is made of. Nothing is raised for what a service does.
        """
        if self._is_stopped:
            return SummaryOutcome(reason="stopped")
        try:
            return self._claim_and_call(name, request)
        except StorageError as error:
            log.warning("event=summary_not_made code=%s", error.code)
            self._is_stopped = True  # what a call costs may not be known: make no other
            return SummaryOutcome(reason="state_unusable")

    def _claim_and_call(self, name: str, request: SummaryRequest) -> SummaryOutcome:
        now = self._clock()
        most = estimate_call(request)
        if self._spent(now[:10]) + sum(most) > self._daily_tokens:
            return SummaryOutcome(reason="budget_spent")
        if not self._state.claim_job(self._space, name, now, self._lease_seconds()):
            return SummaryOutcome(reason="waiting")
        self._add_cost(now[:10], 1, (0, 0), most)
        if self._spent(now[:10]) > self._daily_tokens:  # another process was faster
            self._add_cost(now[:10], -1, most, (0, 0))
            self._state.finish_job(self._space, name)
            return SummaryOutcome(reason="budget_spent")
        outcome, tokens = self._call(request, most)
        self._add_cost(now[:10], 0, most, tokens)
        if outcome.reason:
            log.info("event=summary_refused reason=%s", outcome.reason)
            self._state.fail_job(self._space, name, self._clock())
        else:
            self._state.finish_job(self._space, name)
        return outcome

    def _call(self, request: SummaryRequest, most: tuple[int, int]) -> tuple[SummaryOutcome, tuple[int, int]]:
        """Return what the model made of a request, and the tokens in and out that it cost."""
        try:
            answer = self._summariser.summarise(request)
        except ServiceFailed as error:
            self._failures += 1
            self._is_stopped = self._failures >= _MOST_FAILURES
            return SummaryOutcome(reason=error.reason), (0, 0) if error.reason.startswith(_UNPAID) else most
        self._failures = 0
        checked = take_sentences(answer, request)
        return SummaryOutcome(checked.sentences, checked.reason), (answer.tokens_in, answer.tokens_out)

    def _spent(self, day: str) -> int:
        return sum(cost.tokens for cost in self._state.costs(self._space) if cost.day == day)

    def _add_cost(self, day: str, calls: int, before: tuple[int, int], after: tuple[int, int]) -> None:
        """Put what calls cost in place of what stood in the ledger for them before."""
        tokens_in, tokens_out = (new - old for old, new in zip(before, after, strict=True))
        billionths = self._price.billionths(*after) - self._price.billionths(*before)
        self._state.add_cost(self._space, ModelCost(day, self.model, calls, tokens_in, tokens_out, billionths))

    def _lease_seconds(self) -> int:
        """Return how long a call can take: to connect, to send, to wait for the answer."""
        return int(3 * self._summariser.timeout) + 60
