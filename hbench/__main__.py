"""`python -m hbench`."""

from hbench.cli import main

main()
