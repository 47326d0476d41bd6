"""`commonplace-hook`: what agent hosts run at their events. It never hurts the agent: see docs/hooks.md."""
