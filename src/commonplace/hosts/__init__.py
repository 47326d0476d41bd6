"""The agent programs we connect to: one file each, named after the program. `config_edit` has what they share."""
