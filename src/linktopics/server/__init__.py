"""Pages and an API of a fitted model over HTTP (extra "web")."""
