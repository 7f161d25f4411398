"""Which s and m? What theory gives for a number of classes, beside what the stored maps measured near it.

`theory` has the rules, `maps_file` the committed measurements, `exporting` makes that file from stored runs, `advising`
puts them together. Nothing is imported here, so that the command line starts quickly.
"""
