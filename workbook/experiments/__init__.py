"""What single lessons measure: the runs, tables and plots of one notebook each.

Nothing else of the package imports them. A learner who wants to see how a table of a
lesson was made opens the file that its cell imports.
"""
