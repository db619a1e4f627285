"""The experiments of the paper, their tables, and the page that is made of them."""
