"""Limits of requests and tokens in a window, on a window of a fraction of a second."""

import asyncio
import time

from hbench.engines.rate_limit import RateLimit


def starts(limit: RateLimit, tokens: list[int]) -> list[float]:
    """When each of the requests, all asked at once, was let go; seconds from the first."""

    async def go(count):
        await limit.take(count)
        return time.monotonic()

    async def run():
        return await asyncio.gather(*map(go, tokens))

    times = asyncio.run(run())
    return [t - times[0] for t in times]


def test_no_window_sees_more_requests_than_the_limit():
    times = starts(RateLimit(requests=3, window_s=0.3), [1] * 8)
    assert all(later - earlier >= 0.29 for earlier, later in zip(times, times[3:]))
    assert times[-1] < 1.2 and times == sorted(times)


def test_no_window_sees_more_tokens_than_the_limit():
    times = starts(RateLimit(tokens=100, window_s=0.3), [60, 30, 60, 30])
    assert times[1] < 0.1 and times[2] >= 0.29


def test_a_request_larger_than_the_limit_goes_alone():
    times = starts(RateLimit(tokens=100, window_s=0.2), [500, 10])
    assert 0.19 <= times[1] < 0.5


def test_what_was_not_used_makes_room():
    async def run():
        limit = RateLimit(tokens=100, window_s=60)
        limit.settle(await limit.take(100), 5)
        await asyncio.wait_for(limit.take(90), 1)

    asyncio.run(run())


def test_a_held_limit_lets_nobody_go():
    async def run():
        limit = RateLimit()
        limit.hold(0.2)
        started = time.monotonic()
        await limit.take(1)
        return time.monotonic() - started

    assert 0.19 <= asyncio.run(run()) < 0.5


def test_without_limits_nobody_waits():
    assert starts(RateLimit(), [10**9] * 100)[-1] < 0.1
