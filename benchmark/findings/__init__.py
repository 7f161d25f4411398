"""What the results say: the answer in words and its tables, for report, leaderboard and site."""

from benchmark.findings.about_losses import AboutLoss, about_losses, family
from benchmark.findings.answer import Answer, answer
from benchmark.findings.differences import (
    TEST_COLUMNS,
    differences,
    effect_entry,
    effect_notes,
    in_short,
    p_entries,
    why_no_differences,
)
from benchmark.findings.findings import PRIMARY, Finding, Findings
from benchmark.findings.main_table import (
    PAIRED,
    PLUS_MINUS,
    LossColumn,
    Losses,
    Places,
    by_metric,
    carried,
    diverged_note,
    entry_of,
    main_table,
    settings_table,
)
