"""Which s and m? What theory gives for a number of classes, beside what the stored maps measured near it."""
