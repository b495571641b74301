"""The gate as tests, for people who live in pytest (see `plugin` for ``--builder``)."""
