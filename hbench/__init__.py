"""hbench: measure, adapt, learn and distil agent harnesses.

From a notebook: `hbench.load(path)`, `hbench.run(path)`, `hbench.sql(query)`. From a shell: `hbench --help`.
"""

__version__ = "0.1.0"
