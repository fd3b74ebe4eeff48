"""How good is it: questions with answers, runs over all of them, and what they show."""
