"""The local web page: runs, rounds, candidates, rollouts, exhibits and a SQL box over one results folder or bundle."""
