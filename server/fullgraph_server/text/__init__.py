"""Words that the editor and the terminal share: messages, advice, Markdown, names as a person wrote them.

- ``messages``: the sentences of findings
- ``advice``: what to do about a recompilation
- ``source_names``: torch's names as the user wrote them
- ``size_expressions``: conditions on sizes as the user wrote them
- ``devices``: words for dry runs and GPUs
- ``markdown``: text of others in Markdown, so that none of it is live
- ``visible``: text of others on one line, with control characters shown
- ``tables``: tables of plain text
"""
