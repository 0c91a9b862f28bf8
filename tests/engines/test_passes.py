"""Rows that come and go get the logits that each would get alone."""

import pytest

from tests.engines.tiny_model import tiny

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

PROMPTS = [(4, 5, 6), (7, 8, 9, 10, 11), (12,), (4, 5)]


def alone(model, tokens) -> torch.Tensor:
    """Logits after `tokens`, by one plain pass without any cache."""
    with torch.no_grad():
        return model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1].float()


def same(found, model, rows) -> bool:
    return torch.allclose(found, torch.stack([alone(model, row) for row in rows]), atol=2e-4)


def passes(model, size=8):
    from hbench.engines.passes import passes_for

    return passes_for(model, size, pad=1)


@pytest.mark.parametrize("kind", ["llama", "qwen3", "mistral", "gemma3_text"])
def test_each_row_gets_the_logits_it_would_get_alone(kind):
    plain = tiny(kind, sliding_window=4) if kind in ("mistral", "gemma3_text") else tiny(kind)
    under_test = passes(tiny(kind, sliding_window=4) if kind in ("mistral", "gemma3_text") else tiny(kind))
    assert under_test.joins == (kind in ("llama", "qwen3"))
    rows = [list(prompt) for prompt in PROMPTS]
    assert same(under_test.read(PROMPTS, [1] * 4), plain, rows)
    for token in range(20, 25):
        rows = [[*row, token + place] for place, row in enumerate(rows)]
        assert same(under_test.step([row[-1] for row in rows]), plain, rows)


@pytest.mark.parametrize("kind", ["llama", "gemma3_text"])
def test_a_dropped_row_leaves_the_others_as_they_were(kind):
    plain, under_test = tiny(kind), passes(tiny(kind))
    under_test.read(PROMPTS, [1] * 4)
    rows = [list(prompt) for prompt in PROMPTS]
    for dropped in (1, 2, 0):
        under_test.drop(dropped)
        rows[dropped] = rows[-1]
        rows.pop()
        rows = [[*row, 20 + dropped] for row in rows]
        assert same(under_test.step([20 + dropped] * len(rows)), plain, rows)


@pytest.mark.parametrize("kind", ["llama", "gemma3_text"])
def test_copies_of_a_prompt_go_their_own_ways(kind):
    plain, under_test = tiny(kind), passes(tiny(kind))
    first = under_test.read(PROMPTS[:2], [3, 1])
    rows = [[4, 5, 6]] * 3 + [[7, 8, 9, 10, 11]]
    assert same(first, plain, rows)
    rows = [[*row, 30 + place] for place, row in enumerate(rows)]
    assert same(under_test.step([30, 31, 32, 33]), plain, rows)


def test_a_row_joins_while_others_are_going_and_the_space_grows():
    plain, under_test = tiny("llama", max_position_embeddings=512), passes(tiny("llama", max_position_embeddings=512))
    under_test.read([(4, 5)], [1])
    under_test.step([6])
    long = tuple(4 + place % 30 for place in range(300))
    assert same(under_test.read([long], [1]), plain, [list(long)])
    assert same(under_test.step([7, 8]), plain, [[4, 5, 6, 7], [*long, 8]])
    under_test.drop(0)
    under_test.drop(0)
    assert under_test.kept.keys == []  # an idle engine holds no memory
    assert same(under_test.read([(9, 9)], [1]), plain, [[9, 9]])


def tokens_read(model) -> list[int]:
    """A list that grows by the length of each sequence that the model is given."""
    lengths = []
    model.get_input_embeddings().register_forward_hook(lambda _, given, __: lengths.append(given[0].numel()))
    return lengths


def test_a_conversation_that_goes_on_is_not_read_again():
    plain, model = tiny("llama", max_position_embeddings=512), tiny("llama", max_position_embeddings=512)
    under_test, read = passes(model), tokens_read(model)
    opening = tuple(4 + place % 30 for place in range(60))
    under_test.read([opening, (4, 4)], [1, 1])
    under_test.step([7, 8])
    under_test.drop(0)
    longer = [(*opening, 7, 9, 10), (*opening[:40], 5, 5), (4, 6, 7)]
    assert same(under_test.read(longer, [1, 2, 1]), plain, [longer[0], longer[1], longer[1], longer[2]])
    assert read == [62, 2, 2 + 2 + 3]
    rows = [[4, 4, 8, 20], [*longer[0], 21], [*longer[1], 22], [*longer[1], 23], [*longer[2], 24]]
    assert same(under_test.step([20, 21, 22, 23, 24]), plain, rows)


def test_a_prompt_is_shared_with_a_row_that_is_still_going():
    plain, model = tiny("llama", max_position_embeddings=512), tiny("llama", max_position_embeddings=512)
    under_test, read = passes(model), tokens_read(model)
    prompt = tuple(4 + place % 30 for place in range(200))
    under_test.read([prompt], [1])
    assert same(under_test.read([prompt], [1]), plain, [prompt]) and read == [200, 1]
    assert same(under_test.step([5, 6]), plain, [[*prompt, 5], [*prompt, 6]])


def test_what_is_kept_stays_within_its_bytes():
    from hbench.engines.beginnings import Beginning, Beginnings

    def beginning(first, length=40):
        keys, values = torch.zeros(2, 8, length), torch.zeros(2, length, 8)
        return Beginning(tuple(range(first, first + length)), (keys,), (values,))

    kept = Beginnings(most_bytes=3 * beginning(0).size)
    for first in (0, 100, 200):
        kept.keep(beginning(first))
    assert kept.find((*range(40), 99), [])[1] == 40  # used, so it stays
    kept.keep(beginning(300))
    assert [b.tokens[0] for b in kept.kept] == [200, 0, 300]
    kept.keep(beginning(300, 60))  # goes on from the one there is
    assert [len(b.tokens) for b in kept.kept] == [40, 60]
