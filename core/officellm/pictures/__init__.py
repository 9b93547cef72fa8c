"""Pictures of workflows, plans, teams and finished runs: read into one neutral diagram, written in three formats."""
