"""Clusters: passages that are alike lie in one shard, so that a query loads those that are like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A site with fewer passages has one cluster: all its codes are smaller than the shards of another site's probes.
CLUSTER_FROM = 6_000
#: Passages in a cluster; the largest sites have larger clusters, so that there are not too many to choose from.
CLUSTER_PASSAGES = 128
MAX_CLUSTERS = 1_024
#: Clusters that a query looks into, as a share of them and at least. On the Python docs 0.2 finds 94.8 % of the five
#: passages that mean most what the query means, and 0.25 finds 95.5 %.
PROBE_SHARE = 0.25
MIN_PROBES = 16
#: Rounds of k-means: after these hardly a passage moves.
ROUNDS = 12
#: Passages that the centroids are computed from, for one centroid.
SAMPLE_PASSAGES = 100
#: Where k-means starts: the same site gives the same index.
SEED = 1


def clusters(vectors: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Spherical k-means.

    Args:
        vectors: ``(passages, dimensions)``, less their mean, of any length.

    Returns:
        Centroids ``(clusters, dimensions)``, and the cluster of each passage.
    """
    import numpy as np

    count = len(vectors)
    if count < CLUSTER_FROM:
        return np.ones((1, vectors.shape[1]), np.float32), np.zeros(count, np.int64)
    number = min(MAX_CLUSTERS, count // CLUSTER_PASSAGES)
    chance = np.random.default_rng(SEED)
    sample = vectors
    if count > number * SAMPLE_PASSAGES:
        sample = vectors[np.sort(chance.choice(count, number * SAMPLE_PASSAGES, replace=False))]
    sample = sample / np.maximum(np.linalg.norm(sample, axis=1, keepdims=True), 1e-9)
    centroids = sample[chance.choice(len(sample), number, replace=False)]
    for _ in range(ROUNDS):
        nearest = _nearest(sample, centroids)
        for at in range(number):
            members = sample[nearest == at]
            # An empty cluster starts again from the passage that lies farthest from its own.
            centre = members.sum(axis=0) if len(members) else sample[_farthest(sample, centroids, nearest)]
            centroids[at] = centre / max(float(np.linalg.norm(centre)), 1e-9)
    return centroids, _nearest(vectors, centroids)


def probes(number: int) -> int:
    """Of ``number`` clusters, how many a query looks into."""
    return min(number, max(MIN_PROBES, round(PROBE_SHARE * number))) if number <= 256 else min(number, 2 * MIN_PROBES)


def _nearest(vectors: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.int64]:
    import numpy as np

    step = 8_192
    parts = [(vectors[at : at + step] @ centroids.T).argmax(axis=1) for at in range(0, len(vectors), step)]
    return np.concatenate(parts)


def _farthest(vectors: NDArray[np.float32], centroids: NDArray[np.float32], nearest: NDArray[np.int64]) -> int:
    return int((vectors * centroids[nearest]).sum(axis=1).argmin())
