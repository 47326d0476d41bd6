"""Reading an earlier text of a memory, for `show --revision`."""

from __future__ import annotations

from commonplace.memories.revisions import as_memory, find_text, list_texts
from commonplace.model.errors import NotFound
from commonplace.model.memory import Memory
from commonplace.verbs.context import BookContext


def find_revision(context: BookContext, memory: Memory, revision: str) -> Memory:
    """Return a memory as it was at a revision. Raises NotFound."""
    folder = context.folder(memory.scope)
    context.memories.freshen(folder)  # what was replaced outside goes to the history now
    texts = list_texts(context.memories, context.view_for(memory.scope), folder, memory.key)
    found = as_memory(context.memories, memory.scope, folder, memory.key, find_text(texts, memory.key, revision))
    if found is None:
        raise NotFound(f"The text of {memory.key!a} at that revision cannot be read.")
    return found
