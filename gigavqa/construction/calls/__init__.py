"""Model calls of a build: requests of the service, each asked once, within a budget, and recorded in its folder."""
