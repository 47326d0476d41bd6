"""`commonplace-hook`, the program that agent hosts run at their events. It never hurts the agent: see docs/hooks.md."""
