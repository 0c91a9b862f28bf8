"""The tables of what trains: proposers, and students with their trajectories; parts of those in store/tables.py."""

from hbench.store.table import table

TRAINING = (
    table("edit_contexts", "step", "step_key position", "Training inputs of a proposer.", """
        step_key  VARCHAR  the contexts step
        position  BIGINT  from 0
        family  VARCHAR  the family
        harness_id  VARCHAR  the parent harness
        report_key  VARCHAR  the report's step
        chain  BIGINT  which chain of revisions
        depth  BIGINT  revisions before this one
        from_step_key  VARCHAR  the step whose candidate the parent is; NULL for a given parent
        from_candidate  BIGINT  that candidate
    """),
    table("updates", "step", "step_key update name", "What a trainer logged at each optimizer step.", """
        step_key  VARCHAR  the training step
        update  BIGINT  optimizer step, from 1
        name  VARCHAR  loss, reward, a term's name, kl, seconds …; failed_share: of edits that neither applied nor are no_change
        value  DOUBLE  the value; NULL for times and shares of time
        measured  DOUBLE, volatile  the same for times and shares of time: another machine takes another while
    """),
    table("completions", "step", "step_key candidate", "One completion that a trainer drew and judged.", """
        step_key  VARCHAR  the training step
        candidate  BIGINT  the same number in candidates, reward_terms and rollouts
        update  BIGINT  the update it was drawn for, from 1
        rank  BIGINT  the process that drew it, from 0
        index  BIGINT  its place among those of that process and update, from 0
        context  BIGINT  the edit context: its position in edit_contexts
        reward  DOUBLE  weighted sum of its terms, plus `further`; NULL where none could be had: no signal
        further  DOUBLE  what further revisions add, discounted; NULL for immediate credit
        same_as  BIGINT  the equal candidate that was run in its stead; NULL where it ran itself, or nothing ran
        trouble  VARCHAR  why it has no reward
        completion_tokens  BIGINT  tokens drawn
    """),
    table("checkpoints", "step", "step_key", "A trained model.", """
        step_key  VARCHAR  the training step
        role  VARCHAR  proposer or student
        base_model  VARCHAR  what was trained
        folder  VARCHAR  its folder inside the artifact's files
        sha256  VARCHAR  digest of its files
    """),
    table("trajectories", "step", "step_key question_id repeat", "One multi-turn rollout as the student saw it; its score stands in rollouts.", """
        step_key  VARCHAR  the act step
        question_id  VARCHAR  the question
        repeat  BIGINT, default 0  from 0
        domain  VARCHAR  the domain
        score  DOUBLE  in [0, 1]
        head_digest  VARCHAR  the messages before the first turn, in texts
        turns  BIGINT  number of turns
        replaced  BIGINT  turns in which the reviewer replaced the proposal
        unreviewed  BIGINT  turns in which a reviewer was there and had no say: budget used up, no well-formed verdict …
    """),
    table("turns", "step", "step_key question_id repeat turn", "One proposal, its review, what was done and seen.", """
        step_key  VARCHAR  the act step
        question_id  VARCHAR  the question
        repeat  BIGINT, default 0  from 0
        turn  BIGINT  from 0
        verdict  VARCHAR  pass or replace
        tool  VARCHAR  what the accepted response calls: execute …; NULL for the final answer
        proposal  VARCHAR  digest of the student's proposal, in texts
        accepted  VARCHAR  digest of what was executed, in texts
        observation  VARCHAR  digest of what came back, in texts; NULL behind the final answer
        told_as  VARCHAR  role under which it was told: user or tool
        failure  VARCHAR  what went wrong in the turn: unclosed, several_calls, timeout …; NULL for nothing
        reason  VARCHAR  the reviewer's reason; never in a training row
        components  JSON  parts of the guidance that the reviewer named; of a bank, those with their first part in this turn
        checks  JSON  checks of the guidance that found something; `NAME (error)`, `NAME (timeout)` …: one that broke
        tries  BIGINT  how often the reviewer was asked for this verdict; 0 without a review
        trouble  VARCHAR  why the reviewer had no say: budget, malformed, …; NULL where it had, or there was none
        hidden  JSON  character spans of `accepted` that the reviewer wrote as reasoning
    """),
    table("kept_trajectories", "step", "step_key question_id repeat", "What became of a trajectory on its way to training.", """
        step_key  VARCHAR  the keep_trajectories or trajectory_rows step
        question_id  VARCHAR  the question
        repeat  BIGINT, default 0  from 0
        kept  BOOLEAN  it goes on
        drop_reason  VARCHAR  what dropped it: a filter, an audit, or its length; NULL when kept
        tokens_trained  BIGINT  tokens that carry loss; NULL before it was tokenised
        tokens_masked  BIGINT  tokens that carry none; NULL before it was tokenised
    """),
    table("bank_components", "step", "step_key path", "The components of a bank behind a round of evolution.", """
        step_key  VARCHAR  the evolve step
        path  VARCHAR  tools/NAME.py, middlewares/NAME.py, skills/NAME/SKILL.md or memory.md
        action  VARCHAR  added, changed, kept or dropped in this round
        enabled  BOOLEAN  switched on in the manifest
        cites  JSON  questions whose trajectories the change rests on
        idle_rounds  BIGINT  rounds in a row without a sign of benefit
    """),
    table("behaviours", "step", "step_key question_id repeat pattern", "Whether a trajectory shows a pattern of behaviour.", """
        step_key  VARCHAR  the behaviours step
        question_id  VARCHAR  the question
        repeat  BIGINT, default 0  from 0
        pattern  VARCHAR  the detector's name
        shown  BOOLEAN  it is there
    """),
    table("benchmark_scores", "step", "step_key benchmark metric", "What lm-eval measured of a model, before or after training.", """
        step_key  VARCHAR  the benchmark step
        benchmark  VARCHAR  lm-eval's name of the task or group
        metric  VARCHAR  METRIC,FILTER as lm-eval calls them
        value  DOUBLE  the value
        stderr  DOUBLE  its standard error; NULL where lm-eval gives none
    """),
)
