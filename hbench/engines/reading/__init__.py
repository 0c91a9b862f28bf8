"""How the rule-based reader reads: what is asked, the pages in a request, relations between names, and guesses."""
