"""Hand-written edits for the practice skills: the lines that stand in for `# code` in specs/harnesses/mini.py.

$x, $w and $t stand for names that vary from one demonstration to the next (see _demonstrations.py).
"""

EDITS: dict[str, tuple[str, ...]] = {
    "largest_number": (
        "answer = max(numbers(question))",
        "$x = numbers(question)\nanswer = max($x)",
        "answer = sorted(numbers(question))[-1]",
        "answer = max(numbers(tail(question)))",
    ),
    "smallest_number": (
        "answer = min(numbers(question))",
        "$x = numbers(question)\nanswer = min($x)",
        "answer = sorted(numbers(question))[0]",
        "answer = min(numbers(tail(question)))",
    ),
    "sum_list": (
        "answer = sum(numbers(question))",
        "$x = numbers(question)\nanswer = sum($x)",
        "answer = sum(numbers(tail(question)))",
    ),
    "product_list": (
        "answer = math.prod(numbers(question))",
        "$x = numbers(question)\nanswer = math.prod($x)",
        "answer = math.prod(numbers(tail(question)))",
    ),
    "number_range": (
        "$x = numbers(question)\nanswer = max($x) - min($x)",
        "$x = sorted(numbers(question))\nanswer = $x[-1] - $x[0]",
        "answer = max(numbers(question)) - min(numbers(question))",
    ),
    "count_even": (
        "answer = sum(n % 2 == 0 for n in numbers(question))",
        "answer = len([n for n in numbers(question) if n % 2 == 0])",
        "$x = numbers(question)\nanswer = sum(n % 2 == 0 for n in $x)",
        "answer = sum(n % 2 == 0 for n in numbers(tail(question)))",
    ),
    "keep_even": (
        'answer = ", ".join(str(n) for n in numbers(question) if n % 2 == 0)',
        '$x = [str(n) for n in numbers(question) if n % 2 == 0]\nanswer = ", ".join($x)',
    ),
    "sum_squares": (
        "answer = sum(n * n for n in numbers(question))",
        "answer = sum(n ** 2 for n in numbers(question))",
        "$x = numbers(question)\nanswer = sum(n * n for n in $x)",
        "answer = sum(n * n for n in numbers(tail(question)))",
    ),
    "median_number": (
        "$x = sorted(numbers(question))\nanswer = $x[len($x) // 2]",
        "$x = numbers(question)\nanswer = sorted($x)[len($x) // 2]",
    ),
    "second_largest": (
        "answer = sorted(numbers(question))[-2]",
        "answer = sorted(numbers(question), reverse=True)[1]",
        "$x = sorted(numbers(question))\nanswer = $x[-2]",
    ),
    "count_above": (
        "t = numbers(question)[0]\nanswer = sum(n > t for n in numbers(tail(question)))",
        "$x = numbers(tail(question))\nanswer = sum(n > numbers(question)[0] for n in $x)",
    ),
    "descending_numbers": (
        'answer = ", ".join(map(str, sorted(numbers(question), reverse=True)))',
        '$x = sorted(numbers(question), reverse=True)\nanswer = ", ".join(map(str, $x))',
    ),
    "reverse_numbers": (
        'answer = ", ".join(items(question)[::-1])',
        '$x = items(question)[::-1]\nanswer = ", ".join($x)',
        'answer = ", ".join(reversed(items(question)))',
    ),
    "double_each": (
        'answer = ", ".join(str(2 * n) for n in numbers(question))',
        '$x = [str(2 * n) for n in numbers(question)]\nanswer = ", ".join($x)',
    ),
    "factorial": (
        "answer = math.factorial(numbers(question)[0])",
        "n = numbers(question)[0]\nanswer = math.factorial(n)",
        "answer = math.factorial(numbers(question)[-1])",
        "n = numbers(question)[-1]\nanswer = math.factorial(n)",
    ),
    "integer_root": (
        "answer = math.isqrt(numbers(question)[0])",
        "n = numbers(question)[0]\nanswer = math.isqrt(n)",
        "answer = math.isqrt(numbers(question)[-1])",
        "n = numbers(question)[-1]\nanswer = math.isqrt(n)",
    ),
    "square": (
        "n = numbers(question)[0]\nanswer = n * n",
        "n = numbers(question)[0]\nanswer = n ** 2",
        "answer = numbers(question)[0] ** 2",
        "n = numbers(question)[-1]\nanswer = n * n",
    ),
    "to_binary": (
        "answer = bin(numbers(question)[0])[2:]",
        'answer = format(numbers(question)[0], "b")',
        "n = numbers(question)[0]\nanswer = bin(n)[2:]",
        "answer = bin(numbers(question)[-1])[2:]",
        'answer = format(numbers(question)[-1], "b")',
    ),
    "to_hex": (
        "answer = hex(numbers(question)[0])",
        "n = numbers(question)[0]\nanswer = hex(n)",
        "answer = hex(numbers(question)[-1])",
        "n = numbers(question)[-1]\nanswer = hex(n)",
    ),
    "from_binary": (
        "answer = int(str(numbers(question)[0]), 2)",
        "n = numbers(question)[0]\nanswer = int(str(n), 2)",
        "answer = int(str(numbers(question)[-1]), 2)",
        "n = numbers(question)[-1]\nanswer = int(str(n), 2)",
    ),
    "digit_sum": (
        "answer = sum(int(c) for c in str(numbers(question)[0]))",
        "n = numbers(question)[0]\nanswer = sum(map(int, str(n)))",
        "answer = sum(int(c) for c in str(numbers(question)[-1]))",
        "n = numbers(question)[-1]\nanswer = sum(map(int, str(n)))",
    ),
    "count_zeros": (
        'answer = str(numbers(question)[0]).count("0")',
        'n = numbers(question)[0]\nanswer = str(n).count("0")',
        'answer = str(numbers(question)[-1]).count("0")',
        'n = numbers(question)[-1]\nanswer = str(n).count("0")',
    ),
    "is_prime": (
        "n = numbers(question)[0]\nanswer = all(n % d for d in range(2, n))",
        "n = numbers(question)[0]\nanswer = not any(n % d == 0 for d in range(2, n))",
        "n = numbers(question)[-1]\nanswer = all(n % d for d in range(2, n))",
        "n = numbers(question)[-1]\nanswer = not any(n % d == 0 for d in range(2, n))",
    ),
    "divisor_count": (
        "n = numbers(question)[0]\nanswer = sum(n % d == 0 for d in range(1, n + 1))",
        "n = numbers(question)[0]\nanswer = len([d for d in range(1, n + 1) if n % d == 0])",
        "n = numbers(question)[-1]\nanswer = sum(n % d == 0 for d in range(1, n + 1))",
        "n = numbers(question)[-1]\nanswer = len([d for d in range(1, n + 1) if n % d == 0])",
    ),
    "scientific": (
        'answer = f"{numbers(question)[0]:.2e}"',
        'n = numbers(question)[0]\nanswer = f"{n:.2e}"',
        'answer = format(numbers(question)[0], ".2e")',
        'answer = f"{numbers(question)[-1]:.2e}"',
        'n = numbers(question)[-1]\nanswer = f"{n:.2e}"',
    ),
    "polygon_sum": (
        "answer = 180 * (numbers(question)[0] - 2)",
        "n = numbers(question)[0]\nanswer = 180 * (n - 2)",
        "n = numbers(question)[0]\nanswer = (n - 2) * 180",
        "answer = 180 * (numbers(question)[-1] - 2)",
        "n = numbers(question)[-1]\nanswer = 180 * (n - 2)",
    ),
    "triangle_angle": (
        "answer = 180 - sum(numbers(question))",
        "$x = numbers(question)\nanswer = 180 - sum($x)",
        "a, b = numbers(question)\nanswer = 180 - a - b",
    ),
    "remainder": ("a, b = numbers(question)\nanswer = a % b", "$x = numbers(question)\nanswer = $x[0] % $x[1]"),
    "divisible": (
        "a, b = numbers(question)\nanswer = a % b == 0",
        "$x = numbers(question)\nanswer = $x[0] % $x[1] == 0",
    ),
    "permutations": (
        "k, n = sorted(numbers(question))\nanswer = math.perm(n, k)",
        "$x = numbers(question)\nanswer = math.perm(max($x), min($x))",
    ),
    "combinations": (
        "k, n = sorted(numbers(question))\nanswer = math.comb(n, k)",
        "$x = numbers(question)\nanswer = math.comb(max($x), min($x))",
    ),
    "sum_range": (
        "a, b = numbers(question)\nanswer = sum(range(a, b + 1))",
        "$x = numbers(question)\nanswer = sum(range($x[0], $x[1] + 1))",
        "a, b = numbers(question)\nanswer = (a + b) * (b - a + 1) // 2",
    ),
    "work_out": ("answer = calc(question)", "answer = str(calc(question))", "value = calc(question)\nanswer = value"),
    "last_digit": (
        "answer = calc(question) % 10",
        "answer = str(calc(question))[-1]",
        "value = calc(question)\nanswer = value % 10",
    ),
    "negative": ("answer = -calc(question)", "answer = -1 * calc(question)", "value = calc(question)\nanswer = -value"),
    "double_value": (
        "answer = 2 * calc(question)",
        "answer = calc(question) * 2",
        "value = calc(question)\nanswer = 2 * value",
    ),
    "binary_of_value": (
        "answer = bin(calc(question))[2:]",
        'answer = format(calc(question), "b")',
        "value = calc(question)\nanswer = bin(value)[2:]",
    ),
    "join_words": ('answer = "-".join(items(question))', '$w = items(question)\nanswer = "-".join($w)'),
    "upper_words": (
        'answer = ", ".join(items(question)).upper()',
        'answer = ", ".join(w.upper() for w in items(question))',
        '$w = [w.upper() for w in items(question)]\nanswer = ", ".join($w)',
    ),
    "swap_ends": (
        '$w = items(question)\n$w[0], $w[-1] = $w[-1], $w[0]\nanswer = ", ".join($w)',
        '$w = items(question)\nanswer = ", ".join([$w[-1]] + $w[1:-1] + [$w[0]])',
    ),
    "unique_words": (
        'answer = ", ".join(dict.fromkeys(items(question)))',
        '$w = dict.fromkeys(items(question))\nanswer = ", ".join($w)',
    ),
    "initials": (
        'answer = "".join(w[0] for w in items(question))',
        '$w = items(question)\nanswer = "".join(w[0] for w in $w)',
    ),
    "count_words": ("answer = len(items(question))", "$w = items(question)\nanswer = len($w)"),
    "longest_word": (
        "answer = max(len(w) for w in items(question))",
        "answer = max(map(len, items(question)))",
        "$w = items(question)\nanswer = len(max($w, key=len))",
    ),
    "by_length": (
        'answer = ", ".join(sorted(items(question), key=len))',
        '$w = sorted(items(question), key=len)\nanswer = ", ".join($w)',
    ),
    "drop_short": (
        'answer = ", ".join(w for w in items(question) if len(w) > 4)',
        '$w = [w for w in items(question) if len(w) > 4]\nanswer = ", ".join($w)',
    ),
    "double_word": (
        "answer = tail(question) * 2",
        "answer = tail(question) + tail(question)",
        "$t = tail(question)\nanswer = $t + $t",
    ),
    "sort_letters": ('answer = "".join(sorted(tail(question)))', '$t = sorted(tail(question))\nanswer = "".join($t)'),
    "vowel_count": (
        'answer = sum(c in "aeiou" for c in tail(question))',
        'answer = len(re.findall("[aeiou]", tail(question)))',
        '$t = tail(question)\nanswer = sum(c in "aeiou" for c in $t)',
    ),
    "is_palindrome": (
        "$t = tail(question)\nanswer = $t == $t[::-1]",
        "answer = tail(question) == tail(question)[::-1]",
    ),
    "mirror_word": ("$t = tail(question)\nanswer = $t + $t[::-1]", "answer = tail(question) + tail(question)[::-1]"),
    "spaced_letters": ('answer = "-".join(tail(question))', '$t = tail(question)\nanswer = "-".join($t)'),
    "distinct_letters": ("answer = len(set(tail(question)))", "$t = tail(question)\nanswer = len(set($t))"),
    "remove_vowels": (
        'answer = re.sub("[aeiou]", "", tail(question))',
        'answer = "".join(c for c in tail(question) if c not in "aeiou")',
        '$t = tail(question)\nanswer = re.sub("[aeiou]", "", $t)',
    ),
    "same_letters": (
        "a, b = tail(question).split()\nanswer = sorted(a) == sorted(b)",
        "$w = tail(question).split()\nanswer = sorted($w[0]) == sorted($w[1])",
    ),
    "same_length": (
        "a, b = tail(question).split()\nanswer = len(a) == len(b)",
        "$w = tail(question).split()\nanswer = len($w[0]) == len($w[1])",
    ),
    "letters_within": (
        "a, b = tail(question).split()\nanswer = all(c in b for c in a)",
        "a, b = tail(question).split()\nanswer = set(a) <= set(b)",
    ),
    "text_words": ("answer = len(quoted(question)[0].split())", "$t = quoted(question)[0]\nanswer = len($t.split())"),
    "replace_letter": (
        "a, b, c = quoted(question)\nanswer = c.replace(a, b)",
        "a, b, text = quoted(question)\nanswer = text.replace(a, b)",
        "$w = quoted(question)\nanswer = $w[2].replace($w[0], $w[1])",
    ),
    "contains_word": (
        "a, b = quoted(question)\nanswer = a in b",
        "word, text = quoted(question)\nanswer = word in text",
        "$w = quoted(question)\nanswer = $w[0] in $w[1]",
    ),
}
