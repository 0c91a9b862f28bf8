"""The three sorts of children, by the purpose of their zygote."""

from . import grade, harness, program

CHILDREN = {"harness": harness, "python": program, "grader": grade}
