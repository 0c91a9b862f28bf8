"""Show every file of the folder: its name, how many lines it has, and the first three of them."""
# Written by hand, as an example of what evolution makes.
import os

PARAMETERS = {}

for place, _, names in sorted(os.walk(".")):
    for name in sorted(names):
        path = os.path.relpath(os.path.join(place, name))
        with open(path, errors="replace") as file:
            lines = file.read().splitlines()
        print(f"{path}: {len(lines)} lines")
        for line in lines[:3]:
            print(f"  {line[:80]}")
