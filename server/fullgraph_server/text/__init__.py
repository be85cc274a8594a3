"""Words that the editor and the terminal share: messages, advice, Markdown, names as a person wrote them."""
