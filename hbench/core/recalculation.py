"""How grading asks for values of formulas, and where it then finds them."""

UNCACHED = "uncached_formula"  # kind of the grader's Failure: a formula decides, and its value is not stored
FOLDER = "recalculated/"  # before a path of Work.files: the same workbook with the values of its formulas
