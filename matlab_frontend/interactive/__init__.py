"""Programs that are typed: the prompt of a terminal, and the cells of a notebook."""
