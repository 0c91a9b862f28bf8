from hbench.parts.part import build

TOY = build("families", {"kind": "toy"})


def test_the_gold_answer_scores_one_with_blanks_around_it():
    for question in TOY.questions(0, 20, seed=1):
        assert TOY.grade(f"\n {question.answer} ", question) == {"score": 1.0, "exact": 1.0}
        assert TOY.grade(f"{question.answer}1", question) == {"score": 0.0, "exact": 0.0}


def test_a_pool_is_the_same_whatever_part_of_it_is_asked_for():
    assert TOY.questions(0, 30, seed=1)[10:] == TOY.questions(10, 30, seed=1)


def test_pools_of_neighbouring_seeds_share_nothing():
    ids = [{q.content_id for q in TOY.questions(0, 200, seed)} for seed in (0, 1)]
    assert not ids[0] & ids[1]


def test_a_pool_ends_and_repeats_where_it_is_told_to():
    small = build("families", {"kind": "toy", "pool": 12, "distinct": 5})
    drawn = small.questions(0, 100, seed=0)
    assert len(drawn) == 12 and len({q.content_id for q in drawn}) == 5


def test_a_sum_is_asked_in_words_and_graded_by_its_digits():
    question = build("families", {"kind": "toy", "ask": "sum"}).questions(0, 1, seed=3)[0]
    left, right = [int(word.strip("?")) for word in question.text.split() if word.strip("?").isdigit()]
    assert question.answer == str(left + right)
