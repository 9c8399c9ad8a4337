"""Raw corpora to examples: one reader per file format, the hub, and generated corpora."""

from attention_audit.corpora.corpus import Corpus, Source, choose

__all__ = ["Corpus", "Source", "choose"]
