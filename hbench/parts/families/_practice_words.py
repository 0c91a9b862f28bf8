"""Practice skills with words: lists, single words, two words, quoted texts."""

from random import Random

from hbench.core.digest import Json
from hbench.parts.families._practice_skill import WORDS, Skill, made_up, text, until, word, words

_LIST = words()


def _perhaps_palindrome(dice: Random) -> dict[str, Json]:
    w = dice.choice(WORDS)
    return {"w": w + w[::-1] if dice.random() < 0.5 else w}


def _perhaps_shuffled(dice: Random) -> dict[str, Json]:
    a = dice.choice(WORDS)
    return {"a": a, "b": "".join(dice.sample(a, len(a))) if dice.random() < 0.5 else dice.choice(WORDS)}


def _perhaps_within(dice: Random) -> dict[str, Json]:
    b = dice.choice(WORDS)
    return {"a": "".join(dice.sample(b, dice.randint(2, 3))) if dice.random() < 0.5 else dice.choice(WORDS), "b": b}


def _perhaps_as_long(dice: Random) -> dict[str, Json]:
    a, alike = dice.choice(WORDS), dice.random() < 0.5
    return {"a": a, "b": dice.choice([w for w in WORDS if (len(w) == len(a)) is alike])}


def _letters_in_text(dice: Random) -> dict[str, Json]:
    said = text(dice)["t"]
    return {"a": dice.choice(said.replace(" ", "")), "b": dice.choice("bcdfgko"), "t": said}


LISTS = {
    "join_words": Skill(
        "join words with dashes",
        (
            "Join these words with dashes: {x}",
            "Write the words with - between them: {x}",
            "Make one string of these words, with a dash between two words: {x}",
        ),
        _LIST,
        lambda x: "-".join(x),
    ),
    "upper_words": Skill(
        "write words in upper case",
        (
            "Write these words in upper case: {x}",
            "Turn the list into capital letters: {x}",
            "Return this comma-separated list in upper case: {x}",
        ),
        _LIST,
        lambda x: [w.upper() for w in x],
    ),
    "swap_ends": Skill(
        "swap the first and the last word",
        (
            "Swap the first and the last of these words: {x}",
            "Exchange the first and last item: {x}",
            "Return this list with its first and its last word swapped: {x}",
        ),
        _LIST,
        lambda x: [x[-1], *x[1:-1], x[0]],
    ),
    "unique_words": Skill(
        "remove repeated words",
        (
            "Remove the repeated words: {x}",
            "Keep each word once, in order: {x}",
            "Drop every word that came before: {x}",
        ),
        lambda dice: {"x": [dice.choice(WORDS[i : i + 4]) for i in [dice.randrange(len(WORDS) - 4)] for _ in range(5)]},
        lambda x: list(dict.fromkeys(x)),
    ),
    "initials": Skill(
        "take the first letters of words",
        (
            "Give the first letters of these words: {x}",
            "Make an acronym of the words: {x}",
            "Put together the first letter of each word: {x}",
        ),
        _LIST,
        lambda x: "".join(w[0] for w in x),
    ),
    "count_words": Skill(
        "count the words of a list",
        (
            "How many words are in this list: {x}",
            "Count the words: {x}",
            "Give the number of words in the following list: {x}",
        ),
        words(2, 12),
        lambda x: len(x),
    ),
    "longest_word": Skill(
        "find how long the longest word is",
        (
            "How long is the longest word: {x}",
            "Give the length of the longest word in: {x}",
            "How many letters does the longest of these words have: {x}",
        ),
        lambda dice: {"x": [made_up(dice)["w"] for _ in range(dice.randint(3, 5))]},
        lambda x: max(map(len, x)),
    ),
    "by_length": Skill(
        "order words by their length",
        (
            "Order these words by length, shortest first: {x}",
            "Put the short words before the long ones: {x}",
            "Return this list from the shortest to the longest word: {x}",
        ),
        until(words(3, 5), lambda drawn: len({len(w) for w in drawn["x"]}) == len(drawn["x"])),
        lambda x: sorted(x, key=len),
    ),
    "drop_short": Skill(
        "keep the words of more than four letters",
        (
            "Keep the words of more than four letters: {x}",
            "Drop the words of at most four letters: {x}",
            "Which of these words have more than four letters: {x}",
        ),
        until(words(4, 7), lambda drawn: any(len(w) > 4 for w in drawn["x"])),
        lambda x: [w for w in x if len(w) > 4],
    ),
}

SINGLE = {
    "double_word": Skill(
        "write a word twice",
        (
            "Write this word twice without a space: {w}",
            "Repeat the word two times: {w}",
            "Return this word two times in a row, as one string: {w}",
        ),
        word,
        lambda w: w + w,
    ),
    "sort_letters": Skill(
        "sort the letters of a word",
        (
            "Sort the letters of this word: {w}",
            "Put the letters in alphabetical order: {w}",
            "Return the letters of this word from a to z: {w}",
        ),
        word,
        lambda w: "".join(sorted(w)),
    ),
    "vowel_count": Skill(
        "count the vowels of a word",
        (
            "How many vowels does this word have: {w}",
            "Count the vowels in: {w}",
            "How often does one of the letters aeiou come in this word: {w}",
        ),
        made_up,
        lambda w: sum(c in "aeiou" for c in w),
    ),
    "is_palindrome": Skill(
        "say whether a word is a palindrome, True or False",
        (
            "Answer True or False. Is this word a palindrome: {w}",
            "Return True if the word reads the same backward, else False: {w}",
            "True or False, is this a palindrome: {w}",
        ),
        _perhaps_palindrome,
        lambda w: w == w[::-1],
    ),
    "mirror_word": Skill(
        "write a word and then its mirror image",
        (
            "Write this word and then its mirror image, without a space: {w}",
            "Append the reversed word to the word: {w}",
            "Make a palindrome out of this word and its mirror image: {w}",
        ),
        word,
        lambda w: w + w[::-1],
    ),
    "spaced_letters": Skill(
        "write a word with dashes between its letters",
        (
            "Write this word with dashes between its letters: {w}",
            "Put a dash between every two letters: {w}",
            "Spell this word out, its letters joined by dashes: {w}",
        ),
        word,
        lambda w: "-".join(w),
    ),
    "distinct_letters": Skill(
        "count the different letters of a word",
        (
            "How many different letters does this word have: {w}",
            "Count the distinct letters in: {w}",
            "Of how many different letters is this word made: {w}",
        ),
        made_up,
        lambda w: len(set(w)),
    ),
    "remove_vowels": Skill(
        "remove the vowels from a word",
        (
            "Remove the vowels from this word: {w}",
            "Write the word without its vowels: {w}",
            "Drop every a, e, i, o and u: {w}",
        ),
        until(word, lambda drawn: any(c not in "aeiou" for c in drawn["w"])),
        lambda w: "".join(c for c in w if c not in "aeiou"),
    ),
}

TWO = {
    "same_letters": Skill(
        "say whether two words are anagrams, True or False",
        (
            "Return True if the two words are anagrams, or False otherwise: {a} {b}",
            "Do these two words use the same letters (True or False): {a} {b}",
            "Answer True or False. Are these words anagrams: {a} {b}",
        ),
        _perhaps_shuffled,
        lambda a, b: sorted(a) == sorted(b),
    ),
    "same_length": Skill(
        "say whether two words have the same length, True or False",
        (
            "Return True if the two words have the same length, or False otherwise: {a} {b}",
            "Are these words equally long (True or False): {a} {b}",
            "Answer True or False. Do these words have as many letters: {a} {b}",
        ),
        _perhaps_as_long,
        lambda a, b: len(a) == len(b),
    ),
    "letters_within": Skill(
        "say whether one word holds all letters of another, True or False",
        (
            "Answer True or False. Is every letter of the first word in the second: {a} {b}",
            "Return True if all letters of the first word come in the second one, else False: {a} {b}",
            "True or False, does the second word hold each letter of the first: {a} {b}",
        ),
        _perhaps_within,
        lambda a, b: set(a) <= set(b),
    ),
}

QUOTED = {
    "text_words": Skill(
        "count the words of a quoted text",
        (
            'How many words does the text "{t}" have?',
            'Count the words in the text: "{t}"',
            'Give the number of words of "{t}".',
        ),
        lambda dice: {"t": text(dice)["t"]},
        lambda t: len(t.split()),
    ),
    "replace_letter": Skill(
        "replace a letter in a quoted text",
        (
            'Replace every "{a}" by "{b}" in the text: "{t}"',
            'Change each letter "{a}" to "{b}" in "{t}".',
            'Write "{a}" as "{b}" everywhere in this text: "{t}"',
        ),
        _letters_in_text,
        lambda a, b, t: t.replace(a, b),
    ),
    "contains_word": Skill(
        "say whether a word is in a quoted text, True or False",
        (
            'Answer True or False. Is the word "{a}" in the text: "{t}"',
            'Does "{a}" come in "{t}"? Answer True or False.',
            'Return True if "{a}" is in the following text, else False: "{t}"',
        ),
        text,
        lambda t, a: a in t,
    ),
}

SKILLS = {**LISTS, **SINGLE, **TWO, **QUOTED}
