"""A vector for each text, by the local model."""

from collections.abc import Sequence

from workbook.models.local import local_server

EMBEDDED_BYTES = 500  # of a text: no more tokens than llama.cpp reads in one batch, 512


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector of length 1 for each text: the mean over its tokens, 576 numbers.

    Of a long text the first 500 bytes are read. The model was trained to continue a
    text and not to compare texts: what its vectors are worth has to be measured.
    """
    cut = [text.encode()[:EMBEDDED_BYTES].decode(errors="ignore") for text in texts]
    answer = local_server().post("/v1/embeddings", {"input": cut})
    return [row["embedding"] for row in answer["data"]]
