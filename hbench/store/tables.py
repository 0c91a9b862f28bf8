"""Every table: columns, types, keys, comments. The only place with a schema, with store/tables_training.py.

How to read a table: see store/table.py. Rows given to the store are checked against this at the door.
"""

from hbench.store.table import Table, table
from hbench.store.tables_training import TRAINING
from hbench.store.views import views

SCHEMA = 1  # raised when step.json or a table changes in a way that older code cannot read
OLDEST = 1  # the oldest that is still read; a column that was added since is NULL in its rows

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
        role  VARCHAR  who asked: solver, proposer, student, reviewer, agent (a student's sub-agent), benchmark (lm-eval) …
        model  VARCHAR  the model asked, as in events
        calls  BIGINT, volatile  calls, also those that got no reply; of lm-eval its requests
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
    *TRAINING,
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
