"""What an agent is given without asking: the brief, recall at the prompt, nudges. And what transcripts tell."""
