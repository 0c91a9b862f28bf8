"""The floor that overhead is measured against: the same calls from a bare aiohttp loop. bare_loop.py URL N IN_FLIGHT"""

import asyncio
import sys


async def main(url, count, in_flight):
    import aiohttp

    rest = iter(range(count))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight)) as session:

        async def work():
            for i in rest:
                body = {"model": "mock", "messages": [{"role": "user", "content": f"the number: Q{i}Q"}], "temperature": 0}
                async with session.post(url + "/chat/completions", json=body) as response:
                    said = (await response.json())["choices"][0]["message"]["content"]
                    assert said == str(i), (said, i)

        await asyncio.gather(*(work() for _ in range(in_flight)))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
