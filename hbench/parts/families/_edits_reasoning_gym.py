"""Hand-written edits for Reasoning Gym families: demonstrations of the seen ones, oracles of the others.

As in _edits_practice.py the lines stand in for `# code` in specs/harnesses/mini.py.
"""

# What each demonstrated family asks, in as few words as a practice skill's clause.
CLAUSES = {
    "chain_sum": "add and subtract a chain of numbers",
    "count_primes": "count the primes between two numbers",
    "decimal_arithmetic": "work out a decimal expression",
    "fraction_simplification": "divide a fraction by its greatest common divisor",
    "group_anagrams": "group the words that are anagrams",
    "isomorphic_strings": "say whether two strings are isomorphic, True or False",
    "needle_haystack": "find the name that stands before what is asked",
    "number_filtering": "keep the numbers on one side of a limit",
    "palindrome_generation": "build a palindrome from letters",
    "string_insertion": "insert a letter after each pattern",
}

SEEN: dict[str, tuple[str, ...]] = {
    "chain_sum": ("answer = calc(question)", "answer = str(calc(question))", "value = calc(question)\nanswer = value"),
    "count_primes": (
        "a, b = numbers(question)\nanswer = sum(all(n % d for d in range(2, n)) for n in range(a, b + 1))",
        "$x = numbers(question)\nanswer = sum(all(n % d for d in range(2, n)) for n in range($x[0], $x[1] + 1))",
    ),
    "decimal_arithmetic": (
        "answer = calc(question)",
        "answer = str(calc(question))",
        "value = calc(question)\nanswer = value",
        "answer = calc(last(question))",
    ),
    "fraction_simplification": (
        'a, b = numbers(question)\nanswer = f"{a // math.gcd(a, b)}/{b // math.gcd(a, b)}"',
        'a, b = numbers(question)\ng = math.gcd(a, b)\nanswer = f"{a // g}/{b // g}"',
    ),
    "group_anagrams": (
        "$w = quoted(last(question))\n"
        "answer = str([[x for x in $w if sorted(x) == list(k)] for k in {tuple(sorted(x)) for x in $w}]).replace(\"'\", '\"')",
    ),
    "isomorphic_strings": (
        "a, b = last(question).split()\nanswer = len(set(zip(a, b))) == len(set(a)) == len(set(b))",
        "a, b = last(question).split()\nanswer = [a.find(c) for c in a] == [b.find(c) for c in b]",
    ),
    "needle_haystack": (
        '$t = re.search(r"Who (.*)\\?", question)[1]\nanswer = re.search(r"(\\S+) " + $t, question)[1]',
        '$t = last(question)[4:].split("?")[0]\nanswer = question.split(" " + $t)[0].split()[-1]',
    ),
    "number_filtering": (
        't = numbers(question)[0]\nup = ("larger" in question) == ("Keep" in question)\n'
        "answer = [n for n in quoted(question) if (float(n) > t) == up]",
    ),
    "palindrome_generation": (
        "$x = sorted(items(question), key=lambda c: (items(question).count(c) % 2, c))\n"
        'answer = "".join($x[::2] + $x[1::2][::-1])',
    ),
    "string_insertion": (
        'answer = re.sub("ABCD|BCDE|CDEA|DEAB|EABC", lambda m: m[0] + m[0][0], tail(question))',
        '$t = tail(question)\nanswer = re.sub("ABCD|BCDE|CDEA|DEAB|EABC", lambda m: m[0] + m[0][0], $t)',
    ),
}

# One edit of at most two lines that scores 1.00: what makes a family unseen rather than far. Never shown to a proposer.
ORACLES = {
    "basic_arithmetic": 'answer = calc(question.replace("/", "//"))',
    "bitwise_arithmetic": "answer = hex(calc(question))",
    "coin_flip": (
        "k, n = sorted(numbers(question))\n"
        'answer = sum(math.comb(n, i) for i in range(k, n + 1 if "least" in question else k + 1)) / 2 ** n'
    ),
    "count_bits": 'answer = bin(numbers(question)[-1]).count("1")',
    "gcd": "answer = math.gcd(*numbers(question))",
    "letter_counting": "a, b = quoted(question)\nanswer = b.lower().count(a)",
    "number_sorting": 'answer = sorted(items(question), key=float, reverse="descending" in question)',
    "power_function": 'a, b = numbers(question)[:2]\nanswer = f"{a ** b:.2e}"',
    "ransom_note": (
        'a, b = re.findall(r": (\\w+)", question)\nanswer = all(a.count(c) <= b.count(c) for c in a)'
    ),
    "simple_geometry": "x = numbers(tail(question))\nanswer = round(180 * (len(x) - 1) - sum(x))",
    "spell_backward": "answer = tail(question)[::-1]",
    "word_sorting": 'answer = ", ".join(sorted(items(question), reverse="in descending" in question))',
    # tuning
    "complex_arithmetic": (
        'x = tail(question).replace("i", "j").replace("×", "*").replace("÷", "/")\n'
        'answer = str(eval(x)).replace("j", "i")'
    ),
    "decimal_chain_sum": "answer = calc(question)",
    "lcm": "answer = math.lcm(*numbers(question))",
    "number_format": 'x = numbers(tail(question))\nanswer = max(x) if "largest number of" in question else min(x)',
    "products": "answer = calc(question)",
    "word_sequence_reversal": 'answer = ", ".join(items(question)[::-1])',
}
