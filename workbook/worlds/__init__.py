"""What agents act on: wiki, house, search, payments, a workspace, number tools."""
