"""What each verb does. The book names them; each is loaded when it is first used."""
