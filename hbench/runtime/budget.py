"""Who pays for a call: the budget of a run, the purse of each of its steps, and the payer of a step's calls of one model."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields

from hbench.core.budget import REFUSED, Account, Limit, Price, Spent, at_most
from hbench.core.digest import Json
from hbench.core.failure import OutOfBudget
from hbench.core.message import LMError, Reply, Request
from hbench.core.model import ModelRef

Held = tuple[int, float]  # tokens and money that a call under way may come to


class Budget:
    """The accounts of a run, its own and its arms', and the purses of the steps under way. Calls are paid on one event loop.

    limits: of the run. each_arm: of every arm, but for those in `arms`, which have limits of their own.
    """

    def __init__(self, limits: Limit = Limit(), each_arm: Limit = Limit(), arms: Mapping[str, Limit] = {}):
        self.run = Account("the run", limits)
        self._each, self._named = each_arm, arms
        self._arms: dict[str, Account] = {}
        self._purses: dict[str, Purse] = {}
        self._waiting: list[asyncio.Future] = []
        self.run.begin()

    @classmethod
    def of(cls, block: Json) -> "Budget":
        """block: machine.budget as JSON; {} for none."""
        own = {field.name for field in fields(Limit)}
        limits = {name: value for name, value in block.items() if name in own}
        arms = {name: Limit(**limit) for name, limit in (block.get("arms") or {}).items()}
        return cls(Limit(**limits), Limit(**(block.get("each_arm") or {})), arms)

    def open(self, key: str, arms: Iterable[str] = ()) -> "Purse":
        """The purse of the step that is to make the artifact `key`, and serves these arms; until `close`, they pay."""
        made = self._purses[key] = Purse(self, [self._arm(name) for name in sorted(arms)])
        made.begin()
        return made

    def purse(self, key: str) -> "Purse":
        """That purse; where none was opened, one that the run alone pays into."""
        return self._purses.get(key) or Purse(self, [])

    def close(self, key: str) -> "Purse":
        """What became of it."""
        purse = self._purses.pop(key)
        purse.end()
        return purse

    def _arm(self, name: str) -> Account:
        if name not in self._arms:
            self._arms[name] = Account(f"arm {name}", self._named.get(name, self._each))
        return self._arms[name]

    async def settled(self) -> None:
        """Returns when some call under way has ended."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter

    def wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()


class Purse:
    """What one step spends. Each of its arms is charged with all of it; it goes on as long as one of them can pay.

    refused: why a call was not put; "" as long as all could be paid.
    """

    def __init__(self, budget: Budget, arms: Sequence[Account]):
        self._budget, self._arms = budget, arms
        self._accounts = (budget.run, *arms)
        self.limited = any(account.limit for account in self._accounts)
        self.spent: dict[tuple[str, str], Spent] = {}
        self.refused = ""

    def begin(self) -> None:
        """The step is at work from now on, until `end`."""
        for account in self._arms:
            account.begin()

    def end(self) -> None:
        for account in self._arms:
            account.end()

    def check(self) -> None:
        """Raises OutOfBudget once a call was refused: what the step has is not whole."""
        if self.refused:
            raise OutOfBudget(self.refused)

    def late(self) -> str:
        """Why nothing more is begun, or ""."""
        return self._budget.run.late() or _all_say([account.late() for account in self._arms])

    def rows(self) -> Iterator[Json]:
        """Rows of the table `spend` so far, without the run and the step."""
        for (role, model), spent in [*self.spent.items()]:
            if spent.calls or spent.reused_calls:
                yield {"role": role, "model": model, **asdict(spent)}

    def payer(self, model: ModelRef, price: Price, role: str) -> "Payer":
        """Who pays for calls of `model`. role: who asks."""
        return Payer(self, self.spent.setdefault((role, model.digest[:16]), Spent()), price)

    async def hold(self, tokens: int, cost: float) -> str:
        """Waits while calls under way may leave enough. "" when this one may go, else why not."""
        while self.limited and (why := self.lacks(tokens, cost)):
            if self.late() or not self._may_come(tokens, cost):
                self.refused = self.refused or why
                return why
            await self._budget.settled()
        for account in self._accounts:
            account.hold(tokens, cost)
        return ""

    def settle(self, tokens: int, cost: float) -> None:
        """See Account.settle."""
        for account in self._accounts:
            account.settle(tokens, cost)
        self._budget.wake()

    def lacks(self, tokens: int, cost: float) -> str:
        """Why a call that may come to so much cannot be put now; "" where it can."""
        return self._budget.run.lacks(tokens, cost) or _all_say([account.lacks(tokens, cost) for account in self._arms])

    def _may_come(self, tokens: int, cost: float) -> bool:
        """Whether room may be left by calls under way: they hold more than they will take."""

        def may(account: Account) -> bool:
            spare = account.limit.calls is None or account.calls < account.limit.calls
            return not account.lacks(tokens, cost) or (account.under_way > 0 and spare and not account.late())

        return may(self._budget.run) and (not self._arms or any(map(may, self._arms)))


class Payer:
    """Pays for one step's calls of one model in one role."""

    __slots__ = ("_price", "_purse", "_spent")

    def __init__(self, purse: Purse, spent: Spent, price: Price):
        self._purse, self._spent, self._price = purse, spent, price

    async def pay(self, request: Request, ask: Callable[[Request], Awaitable[Reply | LMError]]) -> Reply | LMError:
        """What `ask` gives, paid for; an LMError where nobody may."""
        held = self._held(at_most(request) if self._purse.limited else (0, 0))
        if why := await self._purse.hold(*held):
            return LMError(REFUSED, why)
        started, used = time.perf_counter(), (0, 0)
        try:
            reply = await ask(request)
            if isinstance(reply, Reply):
                used = reply.prompt_tokens, reply.completion_tokens
            elif reply.kind == REFUSED:  # by another process, which pays for this one's
                self._purse.refused = reply.message
            return reply
        finally:
            self.settle([held], used, time.perf_counter() - started)

    async def hold(self, calls: Sequence[tuple[int, int]]) -> tuple[list[Held], str]:
        """For the first of these calls, as many as may be put now; where not even one may, why. The caller settles them.

        calls: prompt and completion tokens that each may take. Calls under way are waited for only to put the first.
        """
        held: list[Held] = []
        for most in calls:
            one = self._held(most if self._purse.limited else (0, 0))
            if held and self._purse.lacks(*one):
                break
            if why := await self._purse.hold(*one):
                return [], why
            held.append(one)
        return held, ""

    def settle(self, held: Sequence[Held], used: tuple[int, int], seconds: float) -> None:
        """These calls have ended. used: prompt and completion tokens of all together. seconds: waited for them."""
        cost = self._price.of(*used)
        taken = sum(used), cost
        for tokens, most in held:
            self._purse.settle(taken[0] - tokens, taken[1] - most)
            taken = 0, 0.0
        self._note(len(held), used, cost, seconds)

    def _held(self, most: tuple[int, int]) -> Held:
        return sum(most), self._price.of(*most)

    def reused(self, reply: Reply) -> Reply:
        """The same reply, which costs nothing."""
        self._spent.reused_calls += 1
        self._spent.reused_tokens += reply.prompt_tokens + reply.completion_tokens
        return reply

    def _note(self, calls: int, used: tuple[int, int], cost: float, seconds: float) -> None:
        spent = self._spent
        spent.calls += calls
        spent.prompt_tokens += used[0]
        spent.completion_tokens += used[1]
        spent.cost += cost
        spent.seconds += seconds


def _all_say(reasons: Sequence[str]) -> str:
    """The first reason where every arm has one: a step goes on for any that can pay."""
    return reasons[0] if reasons and all(reasons) else ""
