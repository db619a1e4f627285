"""Features of pairs and the choice of defaults: experiments, their tables, and the page that is made of them."""
