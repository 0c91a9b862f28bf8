"""Every table: columns, types, keys, comments. The only place with a schema.

How to read a table: see store/table.py. Rows given to the store are checked against this at the door.
"""

from hbench.store.table import Table, table
from hbench.store.views import views

SCHEMA = 1  # raised when step.json or a table changes in a way that older code cannot read

_ALL = (
    table("specs", "owned", "spec_digest", "One validated experiment description.", """
        spec_digest  VARCHAR  digest of everything in the spec but its name, description and machine
        name  VARCHAR  the spec's name
        plan  VARCHAR  what it compiles to: adaptation, training, distillation or evaluation
        file  VARCHAR  the file it was read from
        point  JSON  the sweep point: path -> value; {} without a sweep
        text  VARCHAR  the whole resolved spec as YAML
    """),
    table("runs", "run", "run_id", "One invocation that executes a plan.", """
        run_id  VARCHAR  id of the run
        spec_digest  VARCHAR  the spec it executes
        started_at  TIMESTAMP, volatile  UTC
        ended_at  TIMESTAMP, volatile  UTC; NULL while it goes on or when it was killed
        outcome  VARCHAR  finished, failed (a step failed), spent (its budget was) or interrupted; NULL like ended_at
        git_commit  VARCHAR  commit of the working tree, with + when it was not clean
        versions  JSON, volatile  package -> version
        machine  JSON, volatile  host, cores, memory, GPUs, jail
        limited  BIGINT  the N of --limit N: a quick look, not a result; NULL for a whole run
    """),
    table("plan_steps", "owned", "spec_digest step_id", "The steps of a compiled spec.", """
        spec_digest  VARCHAR  the spec
        step_id  VARCHAR  digest of the step's recipe
        kind  VARCHAR  the step's kind
    """),
    table("plan_labels", "owned", "spec_digest step_id arm family seed round slot purpose",
           "What a step is for. One step may serve many arms, rounds and purposes.", """
        spec_digest  VARCHAR  the spec
        step_id  VARCHAR  the step
        arm  VARCHAR  the arm it serves
        family  VARCHAR  the family it works on
        seed  BIGINT  the spec's seed
        round  BIGINT  from 0; NULL where no round is meant
        slot  BIGINT  which candidate of the round, from 0; NULL where none is meant
        purpose  VARCHAR  why the plan holds it: propose, candidate_scoring, held_out … (see plan/)
        label  VARCHAR  for people: round 1, candidate 3
    """),
    table("plan_edges", "owned", "spec_digest step_id input", "Which step feeds which.", """
        spec_digest  VARCHAR  the spec
        step_id  VARCHAR  the step that reads
        input  VARCHAR  the name under which it reads
        from_step_id  VARCHAR  the step that is read
    """),
    table("run_steps", "run", "run_id step_id", "What became of each step in a run.", """
        run_id  VARCHAR  the run
        step_id  VARCHAR  the step
        step_key  VARCHAR  its artifact; NULL when it has none
        status  VARCHAR  ran, cached, failed, spent (its budget was) or skipped
        seconds  DOUBLE, volatile  wall time in this run
        error  VARCHAR  why it failed, was not paid for, or was skipped
    """),
    table("spend", "run", "run_id step_id role model",
           "What a run spent on a step, whatever became of it. Several specs of one command share a step: it stands in the first one's run.", """
        run_id  VARCHAR  the run
        step_id  VARCHAR  the step
        step_key  VARCHAR  the artifact that it was to be
        role  VARCHAR  who asked: solver, proposer, student, reviewer, agent (a student's sub-agent) …
        model  VARCHAR  the model asked, as in events
        calls  BIGINT, volatile  calls, also those that got no reply
        prompt_tokens  BIGINT, volatile  tokens asked
        completion_tokens  BIGINT, volatile  tokens answered
        cost  DOUBLE, volatile  money, by the prices of the machine; 0 where it names none
        seconds  DOUBLE, volatile  waited for replies, added up over calls
        reused_calls  BIGINT, volatile  calls that the reply store answered: free
        reused_tokens  BIGINT, volatile  prompt and completion tokens of those
    """),
    table("steps", "store", "step_key", "One finished step: an artifact.", """
        step_key  VARCHAR  digest of recipe and input contents
        kind  VARCHAR  the step's kind
        version  BIGINT  version of the kind's behaviour
        params  JSON  everything that can change the result
        value  JSON  what later steps read
        digest  VARCHAR  digest of the contents: value, files and rows without volatile columns
        seconds  DOUBLE, volatile  wall time when it ran
        finished_at  TIMESTAMP, volatile  UTC
        made_with  JSON, volatile  host, engine versions, jail: facts that are recorded and not hashed
    """),
    table("models", "step", "step_key role", "The models that a step used.", """
        step_key  VARCHAR  the step
        role  VARCHAR  solver, proposer, teacher, reviewer, student or evolver
        model  VARCHAR  its name
        revision  VARCHAR  its revision, or the digest of its weights
        engine  VARCHAR, volatile  what served it, with its version
        sampling  JSON  temperature, max_tokens, top_p, stop, extra
        identity  JSON  all of the model that can change a reply
    """),
    table("questions", "shared", "question_id", "One gradable item.", """
        question_id  VARCHAR  16 hex digits of family, text and answer
        content_id  VARCHAR  16 hex digits of what is asked, free of framing; splits are disjoint in it
        family  VARCHAR  its family
        pool_index  BIGINT  its place in the family's pool
        text  VARCHAR  what a harness sees
        answer  JSON  gold
        meta  JSON  what the grader needs besides
    """),
    table("split_questions", "step", "step_key position", "The questions of a split, in order.", """
        step_key  VARCHAR  the split step
        position  BIGINT  from 0
        role  VARCHAR  feedback, scoring or evaluation
        question_id  VARCHAR  the question
    """),
    table("harnesses", "shared", "harness_id path", "The files of every harness; the first to be stored stays.", """
        harness_id  VARCHAR  16 hex digits of the tidied files
        path  VARCHAR  the file's path
        text  VARCHAR  its text, tidied
        lines  BIGINT  its number of lines
    """),
    table("rollouts", "step", "step_key candidate question_id repeat", "One run of one harness on one question.", """
        step_key  VARCHAR  the step that ran it
        candidate  BIGINT, default 0  which completion of the step; 0 in adaptation
        question_id  VARCHAR  the question
        repeat  BIGINT, default 0  from 0
        harness_id  VARCHAR  the harness
        answer  VARCHAR  what run() returned; NULL when it did not complete
        score  DOUBLE  the grade that the spec names, in [0, 1]; NULL where it was not run
        completed  BOOLEAN  run() returned a str within its limits; NULL where it was not run
        failure  VARCHAR  timeout, truncated, bad_type, no_answer …; not_run: its candidate had left the race; NULL for none
        boundary  VARCHAR  what the failure crossed: harness, limits or grader
        error  VARCHAR  the failure's message
        calls  BIGINT  tool calls
        prompt_tokens  BIGINT  over all lm calls
        completion_tokens  BIGINT  over all lm calls
        seconds  DOUBLE, volatile  wall time
        output_digest  VARCHAR  what it printed, in texts; NULL when nothing
    """),
    table("grades", "step", "step_key candidate question_id repeat name", "Every grade of a rollout.", """
        step_key  VARCHAR  the rollout's step
        candidate  BIGINT, default 0  the rollout's candidate
        question_id  VARCHAR  the rollout's question
        repeat  BIGINT, default 0  the rollout's repeat
        name  VARCHAR  score, exact, em, f1, hard, soft, legacy …
        value  DOUBLE  in [0, 1]
    """),
    table("events", "step", "step_key candidate question_id repeat position",
           "Every tool call, and every call of a proposer.", """
        step_key  VARCHAR  the step
        candidate  BIGINT, default 0  the rollout's candidate
        question_id  VARCHAR, default ''  the rollout's question; empty for a call outside a rollout
        repeat  BIGINT, default 0  the rollout's repeat
        position  BIGINT  order within the rollout, from 0
        kind  VARCHAR  lm, search, python or execute
        role  VARCHAR  whose call: solver, proposer, student, reviewer, agent (a student's sub-agent), outside …
        model  VARCHAR  the model asked
        request_id  VARCHAR  digest of everything that can change the reply
        reused  BOOLEAN, volatile  answered by the reply store: costs nothing
        finish_reason  VARCHAR  stop, length …
        prompt_tokens  BIGINT  tokens asked
        completion_tokens  BIGINT  tokens answered
        seconds  DOUBLE, volatile  wall time
        sent_digest  VARCHAR  what was asked, in texts; {"after": n, "messages": […]} adds to the first n of the role's call before and its reply
        received_digest  VARCHAR  what came back, in texts
    """),
    table("texts", "shared", "digest", "Long texts, once each; in texts.duckdb, attached by `hbench sql`.", """
        digest  VARCHAR  32 hex digits of the text as it was
        text  VARCHAR  the text; NUL and lone surrogates stand as U+FFFD
    """),
    table("reports", "step", "step_key", "What a proposer read.", """
        step_key  VARCHAR  the report step
        harness_id  VARCHAR  the harness reported on
        text_digest  VARCHAR  the report, in texts
    """),
    table("candidates", "step", "step_key candidate", "One proposal and what became of it.", """
        step_key  VARCHAR  the step that proposed it
        candidate  BIGINT, default 0  which completion of the step; 0 in adaptation
        parent_id  VARCHAR  the harness that was edited
        harness_id  VARCHAR  the harness made; NULL when the edit failed
        response_digest  VARCHAR  the proposer's words, in texts
        explanation  VARCHAR  its explanation of the change
        outcome  VARCHAR  applied, no_change, or the error's name
        parsed  BOOLEAN  the response held an edit
        applied  BOOLEAN  the edit made a harness
        boundary  VARCHAR  parse or apply; NULL when neither failed
        error  VARCHAR  the failure's message
        finish_reason  VARCHAR  stop, length …
        prompt_tokens  BIGINT  tokens asked
        completion_tokens  BIGINT  tokens answered
        seconds  DOUBLE, volatile  wall time
    """),
    table("reward_terms", "step", "step_key candidate term", "A candidate's reward, term by term.", """
        step_key  VARCHAR  the reward step
        candidate  BIGINT, default 0  the candidate
        term  VARCHAR  task_score, parsed, applied, completed …
        value  DOUBLE  unweighted, in [0, 1]
        weight  DOUBLE  its weight in the reward
    """),
    table("selections", "step", "step_key", "What a selection rule chose.", """
        step_key  VARCHAR  the select or race step
        rule  VARCHAR  the rule's kind
        parent_id  VARCHAR  the parent harness
        chosen_id  VARCHAR  the next round's harness
        parent_score  DOUBLE  the parent's mean score
        chosen_score  DOUBLE  the chosen harness's mean score
        kept_parent  BOOLEAN  the parent stayed
        slot  BIGINT  which candidate was chosen; -1 the parent
    """),
    table("races", "step", "step_key slot", "How far each candidate of a race came.", """
        step_key  VARCHAR  the race step
        slot  BIGINT  which candidate of the round, from 0
        candidate  BIGINT  under which number its rollouts stand: its own, or that of an equal harness proposed before it
        harness_id  VARCHAR  its harness; NULL when the edit failed
        questions  BIGINT  on how many it was run
        score  DOUBLE  its mean score over these; NULL when it was not run
        dropped  BOOLEAN  it left the race before the last question
    """),
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
    table("exhibit_cells", "owned", "exhibit row column", "The cells of every exhibit as last printed.", """
        exhibit  VARCHAR  the exhibit's name
        row  VARCHAR  the row's name
        column  VARCHAR  the column's name
        value  DOUBLE  what we measured
        n  BIGINT  how many values it rests on
        low  DOUBLE  lower end of the interval
        high  DOUBLE  upper end of the interval
        paper_value  DOUBLE  the paper's value; NULL where it is not known
        tolerance  DOUBLE  how far apart the two may be
        within  BOOLEAN  they are that close
    """),
    table("folded", "store", "place", "What the database already holds: bookkeeping of `fold`.", """
        place  VARCHAR  schema, a folder of steps/, a file, or a step that could not be folded
        mark  VARCHAR  how far it was read, or why it was passed over
    """),
)

TABLES: dict[str, Table] = {t.name: t for t in _ALL}
STEP_TABLES = frozenset(t.name for t in _ALL if t.sort in ("step", "shared"))  # what a step may write


def describe_tables() -> str:
    """Every table with its key and columns, then every view, as `hbench tables` prints them."""
    return "\n\n".join([t.describe() for t in _ALL] + [f"{v.name} (a view): {v.comment}" for v in views()])
