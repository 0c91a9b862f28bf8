"""Reinforcement learning of the proposer on what its edits do when they are run: one segment on fixed edit contexts."""

from collections.abc import Mapping

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.core.training import TrainingJob
from hbench.steps._checkpoint import checkpoint_output
from hbench.steps._edit_prompt import context_messages
from hbench.steps.edit_reward import EditReward
from hbench.steps.run_setting import model_ref
from hbench.steps.trained import trained

VERSION = 1


def train_grpo(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: model, recipe (the spec's block), prompt (the proposer's), seed; edit, families, terms and no_change as in
    demonstrate; report (for discounted credit). inputs: `contexts`; `questions_<family>`, each family's scoring questions;
    `feedback_<family>` where credit is discounted; `checkpoint` where training goes on from one.

    Value: checkpoint, updates, reward_first, reward_last (means over an update), segment (null: the plan knows it); files:
    checkpoint. Rows of every completion: completions, candidates, reward_terms, rollouts and what goes with them.
    Raises StepError, also when too many completions got no reward. A try after a kill goes on from the last checkpoint.
    """
    contexts = inputs["contexts"].value["contexts"]
    if not contexts:
        raise StepError("there are no edit contexts to train on")
    model = trained(model_ref(params["model"]), inputs)
    prompts = [
        {
            "context": context["position"],
            "messages": [m.to_json() for m in context_messages(params["prompt"], context, params["edit"])],
        }
        for context in contexts
    ]
    reward = reward_of(params, inputs, contexts)
    EditReward(reward, services)  # what is wrong with it shows before a process is started
    job = TrainingJob("grpo", model, params["recipe"], params["seed"], prompts=prompts, reward=reward)
    return checkpoint_output(services.train(job), model, "reward", services, {"segment": None})


def reward_of(params: Json, inputs: Mapping[str, Artifact], contexts: Json) -> Json:
    """All that steps/edit_reward.py takes; holds gold, and is handed to it alone."""
    names = list(params["families"])
    feedback = {name: inputs[f"feedback_{name}"].value for name in names if f"feedback_{name}" in inputs}
    return {
        **{name: params[name] for name in ("edit", "families", "terms", "no_change", "report", "prompt")},
        "credit": params["recipe"].get("credit", {"kind": "immediate"}),
        "contexts": contexts,
        "questions": {name: inputs[f"questions_{name}"].value for name in names},
        "feedback": feedback,
    }
