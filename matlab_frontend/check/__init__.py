"""``--check``: mistakes that the text of programs shows, without running them."""
