"""What each reasoning-gym family asks, in our own words: for the proposer, which must not see a question here."""


def describe(name: str) -> str:
    """One or two sentences; a general one for a family that is not in the table."""
    return DESCRIPTIONS.get(name, f"Puzzles of the Reasoning Gym family {name}; an answer can be checked.")


DESCRIPTIONS = {
    "ab": (
        "A string rewriting system with four tokens: neighbours that face each other vanish or swap. The answer "
        "is the final string of tokens."
    ),
    "acre": (
        "Objects on a detector switch a light on or not; from a few trials, say whether a new set gives on, off "
        "or undetermined."
    ),
    "advanced_geometry": (
        "Coordinates of a triangle are given; compute its orthocentre, its incircle's radius or an angle, to "
        "three decimals."
    ),
    "aiw": "Short stories about siblings, friends or colleagues; count how many a second person in the story has.",
    "arc_1d": "Examples of one-row grids before and after a hidden rule; apply the rule to a new row of digits.",
    "arc_agi": (
        "Examples of coloured grids, written as digits, before and after a hidden rule; apply the rule to a new "
        "grid."
    ),
    "base_conversion": (
        "Write a number given in one base in another base, with lower-case letters for digits above nine."
    ),
    "basic_arithmetic": (
        "Evaluate an arithmetic expression with signs, brackets and the four operations; the answer is a number."
    ),
    "bf": "Read a short Brainf*ck program and give exactly what it prints.",
    "binary_alternation": (
        "Find the least number of swaps of two characters that makes a binary string alternate, or -1 if none "
        "does."
    ),
    "binary_matrix": (
        "For each cell of a 0/1 matrix give its city-block distance to the nearest 0; the answer is a matrix."
    ),
    "bitwise_arithmetic": (
        "Evaluate an expression of hexadecimal numbers with shifts, sums and products; the answer is signed "
        "hexadecimal."
    ),
    "boxnet": (
        "Plan moves for agents on a grid so that each coloured box reaches its target; the answer is a plan in "
        "JSON."
    ),
    "caesar_cipher": "Decrypt a text in which every letter was moved by the same unknown number of places.",
    "calendar_arithmetic": (
        "Questions about dates: weekdays before or after, days between dates, leap years, working days."
    ),
    "chain_sum": "Add and subtract a chain of whole numbers; the answer is the total.",
    "circuit_logic": "A drawing of logic gates with the value of every input; give the value of the output, 0 or 1.",
    "codeio": "A program, with its task in words, and either its input or its output; predict the other one as JSON.",
    "coin_flip": "Give the probability of a number of heads or tails in several flips of a coin.",
    "color_cube_rotation": "A cube with coloured sides is turned a few times; name the colour of one side afterwards.",
    "complex_arithmetic": "Add, subtract, multiply or divide two complex numbers; the answer is written a + bi.",
    "composite": "A mixture of several families; each question says what it asks.",
    "count_bits": "Count the ones in the binary form of a whole number.",
    "count_primes": "Count the prime numbers in a range, both ends included.",
    "countdown": "Build an arithmetic expression that uses each of the given numbers once and equals the target.",
    "course_schedule": (
        "Courses with prerequisites; say True if all of them can be finished, False if they wait for each other."
    ),
    "cryptarithm": "A written sum with letters for digits; find the digit of each letter.",
    "decimal_arithmetic": "Evaluate an expression of decimal numbers to a given number of significant digits.",
    "decimal_chain_sum": "Add and subtract a chain of decimal numbers; the answer is the total.",
    "dice": (
        "Several dice of different sizes are rolled; give the probability of reaching a total, as a reduced "
        "fraction."
    ),
    "emoji_mystery": (
        "A sentence is hidden in the variation selectors behind an emoji; a decoding function is shown. Give the "
        "sentence."
    ),
    "family_relationships": (
        "A few sentences tell who is married to whom and whose child is who; name the relation between two "
        "people."
    ),
    "figlet_font": "A word is drawn in large letters made of characters; say which word it is.",
    "fraction_simplification": "Reduce a fraction to lowest terms, in the notation in which it is given.",
    "futoshiki": "Fill a square with numbers so that no row or column repeats one and all signs of inequality hold.",
    "game_of_life": (
        "Advance a Game of Life board on a torus by some steps; the answer is the board as a list of lists."
    ),
    "game_of_life_halting": "Say True if a Game of Life board has died out within a given number of steps, else False.",
    "gcd": "Find the greatest common divisor of two or more whole numbers.",
    "graph_color": "Colour the vertices of a graph so that no edge joins two of one colour; the answer is a JSON map.",
    "group_anagrams": "Sort a list of words into groups of anagrams; the answer is a list of lists.",
    "gsm_symbolic": "Primary-school word problems with changed names and numbers; the answer is one number.",
    "intermediate_integration": (
        "Find an antiderivative that needs substitution or integration by parts; the answer is an expression with "
        "+ C."
    ),
    "isomorphic_strings": (
        "Say True if the characters of one string can be replaced one by one to give the other, else False."
    ),
    "jugs": "Fill, empty and pour between jugs until one holds the target amount; the answer is a JSON list of moves.",
    "kakurasu": (
        "Put ones in a grid so that every row and column has its given sum of position weights; the answer is the "
        "grid."
    ),
    "knight_swap": "On a small broken board, let the white and black knights change places by legal moves, or say No.",
    "knights_knaves": "Islanders who always tell the truth or always lie make statements; say which one is which.",
    "largest_island": "Find the size of the largest group of connected ones in a grid of zeros and ones.",
    "lcm": "Find the least common multiple of two or more whole numbers.",
    "leg_counting": "Count the legs of a list of animals of various kinds.",
    "letter_counting": "Count how often one letter stands in a text.",
    "letter_jumble": "The letters within each word of a text are shuffled; restore the text, words staying in place.",
    "list_functions": "Examples of lists before and after a hidden rule; apply the rule to a new list.",
    "mahjong_puzzle": (
        "Cards are drawn and dropped by simple rules; give the result of the last round: Peng, Chi or Pass."
    ),
    "manipulate_matrix": (
        "Carry out a series of operations on a matrix (turn, mirror, delete, set); the answer is the matrix."
    ),
    "maze": "A maze drawn with unusual signs; give the least number of steps from start to goal.",
    "mini_sudoku": "Complete a 4 x 4 Sudoku; the answer is the grid.",
    "modulo_grid": (
        "A grid of ticks and crosses follows an arithmetic rule; fill in the cells with question marks and give "
        "the whole grid."
    ),
    "n_queens": "Place the missing queens on a chess board so that none attacks another; the answer is the board.",
    "needle_haystack": "Many sentences about what people like or dislike; name the one person a question is about.",
    "number_filtering": (
        "Keep or remove the numbers of a list that are above or below a bound; the answer is a list of strings."
    ),
    "number_format": "Numbers in different notations; give the largest or the smallest of them.",
    "number_sequence": "Find the next term of a sequence of whole numbers.",
    "number_sorting": "Sort decimal numbers up or down; the answer is a list of strings.",
    "palindrome_generation": "Arrange all the given letters into a palindrome.",
    "palindrome_partitioning": "List all ways to cut a string into palindromes, as a list of lists.",
    "path_star": "A star-shaped graph as a list of edges; give the path of node labels from start to goal.",
    "polynomial_equations": "Find the real solutions of a polynomial equation, as decimals separated by commas.",
    "polynomial_multiplication": "Multiply out a product of polynomials; the answer is the expanded expression.",
    "pool_matrix": (
        "Pool a matrix with the maximum or the average over square blocks; the answer is the smaller matrix."
    ),
    "power_function": "Raise a decimal number to a whole power, to three significant figures in scientific notation.",
    "prime_factorization": "Write a number as a product of primes.",
    "products": "Multiply whole numbers; the answer is the product.",
    "propositional_logic": "From premises in propositional logic, give a statement that follows, in the same notation.",
    "puzzle24": "Combine four numbers, each used once, into an expression that equals 24.",
    "quantum_lock": (
        "Buttons change a number and the state of a light; give the shortest sequence of presses that reaches the "
        "target."
    ),
    "ransom_note": "Say True if a note can be made from the letters of a magazine, each used once, else False.",
    "rearc": "Generated examples of coloured grids before and after a hidden rule; apply the rule to a new grid.",
    "rectangle_count": "Count the rectangles drawn with characters on a large canvas; some of them overlap.",
    "rotate_matrix": "Turn a square matrix clockwise by a multiple of 90 degrees; the answer is the matrix.",
    "rotten_oranges": (
        "Rot spreads over a grid of oranges, one step a minute; give the minutes until none is fresh, or -1."
    ),
    "rubiks_cube": "An unfolded Rubik's cube; give a sequence of moves in Singmaster notation that solves it.",
    "rush_hour": "Slide cars on a crowded board so that the red car reaches the exit; the answer is a list of moves.",
    "self_reference": "Statements speak about how many among them are true; count the consistent assignments.",
    "sentence_reordering": "The words of a sentence are shuffled; give the sentence in its right order.",
    "shortest_path": (
        "Find a shortest way through a grid with blocked cells, as a list of directions, or say infeasible."
    ),
    "simple_equations": "Solve a linear equation in one unknown; the answer is a number.",
    "simple_geometry": "All interior angles of a convex polygon but one are given; find the missing one.",
    "simple_integration": "Find the antiderivative of a polynomial; the answer is an expression with + C.",
    "sokoban": "Push all boxes onto the goals; the answer is a string of moves U, D, L, R.",
    "spell_backward": "Write a word backwards.",
    "spiral_matrix": "List the entries of a matrix in clockwise spiral order from the top left corner.",
    "string_insertion": (
        "Insert letters into a string after certain patterns, scanning from left to right; the answer is the new "
        "string."
    ),
    "string_manipulation": (
        "Apply a numbered list of rewriting rules to a string until nothing changes or a state comes back."
    ),
    "string_splitting": (
        "Machines and parts are taken apart and combined by rules in turn; give the final counts of each."
    ),
    "string_synthesis": "Blocks are combined into others by rules in turn; give the final counts of each.",
    "sudoku": "Complete a 9 x 9 Sudoku; the answer is the grid.",
    "survo": (
        "Fill the empty cells of a matrix with given numbers so that the sums at its borders hold; the answer is "
        "the matrix."
    ),
    "syllogism": "Two statements about groups and a conclusion; say Yes if it follows, else No.",
    "time_intervals": "Give the time between two moments or dates, in the format asked for.",
    "tower_of_hanoi": (
        "Move all disks from one peg to another, sometimes with more than three pegs; the answer is one move a "
        "line."
    ),
    "tsumego": "A small Go position; give the move that captures the most stones, in coordinates.",
    "word_ladder": "Change one word into another, one letter at a time through English words; the answer is the chain.",
    "word_sequence_reversal": "Write a list of words in reverse order.",
    "word_sorting": "Sort words up or down by character code; the answer is a list separated by commas.",
    "zebra_puzzles": "Clues about people, houses and their habits; find who lives in one house.",
}
