"""Runs that change no file of the user's: what they write is theirs alone, and gone with them."""
