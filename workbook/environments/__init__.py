"""What the lessons act on: small worlds, number tools, a workspace, payments, searches.

Nobody has to read them. A tool is found by its name as soon as its file is here.
"""
