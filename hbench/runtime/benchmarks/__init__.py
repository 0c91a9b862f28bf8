"""lm-eval in a process of its own, beside a run: it seeds, logs and loads as it likes. What a model says is graded in a jail."""
