"""What the results say: the answer in words, who is best, and the tables behind it.

Report, leaderboard and site share it.
"""

from benchmark.findings.about_losses import AboutLoss, about_losses, family
from benchmark.findings.answer import Answer, answer
from benchmark.findings.differences import differences, in_short, why_no_differences
from benchmark.findings.effect_entry import TEST_COLUMNS, effect_entry, effect_notes, p_entries
from benchmark.findings.findings import PRIMARY, Finding, Findings
from benchmark.findings.main_table import (
    LossColumn,
    Losses,
    Places,
    by_metric,
    diverged_note,
    entry_of,
    main_table,
    note_on,
    without_value,
)
from benchmark.findings.notes import PAIRED, PLUS_MINUS, carried
