"""Tables as database tools show and export them: bars and rules, `\\G`, SQL, JSON, HTML, workbooks.

Each module yields (table, cells) for every row, a table's header first.
"""
