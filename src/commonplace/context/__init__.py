"""What an agent gets without asking (brief, recall at the prompt, nudges), and what is captured from transcripts."""
