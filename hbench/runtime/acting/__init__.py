"""Multi-turn rollouts: a student works in a workspace, under review where there is one."""
