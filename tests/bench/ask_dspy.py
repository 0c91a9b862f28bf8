"""dspy.Evaluate on the server of overhead.py: ask_dspy.py URL COUNT IN_FLIGHT. No cache. Fails where an answer is wrong."""

import sys

import dspy

url, count, in_flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Ask(dspy.Module):
    """One call as it is, without dspy's own wording around it."""

    def forward(self, question):
        return dspy.Prediction(answer=dspy.settings.lm(question)[0])


dspy.configure(lm=dspy.LM("openai/mock", api_base=url, api_key="none", cache=False, temperature=0.0))
asked = [f"Reply with the number between the Qs: Q{i}Q" for i in range(count)]
examples = [dspy.Example(question=text, answer=str(i)).with_inputs("question") for i, text in enumerate(asked)]
evaluate = dspy.Evaluate(
    devset=examples,
    metric=lambda example, said, trace=None: example.answer == said.answer,
    num_threads=in_flight,
    display_progress=False,
    display_table=False,
)
assert evaluate(Ask()).score == 100.0
