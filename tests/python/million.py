"""A million pairs on one core, by hand and by tests/bare/wheel.sh: at most 20 seconds of processor time."""
import time

import kveval

PAIRS = [
    ("70", "The answer is $\\boxed{70}$."), ("204", "So m + n = \\boxed{204}"), ("\\frac{1}{2}", "\\boxed{0.5}"),
    ("3\\sqrt{2}", "Thus \\boxed{3\\sqrt2}"), ("x^2+2x+1", "\\boxed{(x+1)^2}"), ("(1,2)", "Answer: (1,2)"),
    ("0.25", "\\boxed{25\\%}"), ("\\pi/3", "\\boxed{60^\\circ}"), ("113", "**Final answer:** 112"), ("025", "$\\boxed{26}$"),
]

began, clock = time.process_time(), time.time()
grades = kveval.grade_many((PAIRS[i % len(PAIRS)] for i in range(1_000_000)), threads=1)
used = time.process_time() - began
print(f"{len(grades):,} pairs: {used:.1f} s of one core, {time.time() - clock:.1f} s by the clock")
assert sum(map(bool, grades)) == 800_000
assert used < 20, f"{used:.1f} s"
