"""A training step in processes of its own: the driver starts, watches and collects them; each rank trains and keeps rows.

The step's part folder holds `train/`: job.json, rows-<rank>.jsonl, log-<rank>.txt, checkpoints/, and at the end final/ and
trained.json. Nothing of it but rows and final/ outlives the step.
"""
