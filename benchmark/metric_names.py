"""Which figures a run has, found by scoring a few made-up numbers."""

from functools import lru_cache

import numpy as np

from benchmark import scoring


@lru_cache(maxsize=1)
def metric_names() -> tuple[str, ...]:
    """Every figure of a closed set with frequent, medium and rare classes, which has them all."""
    centres = np.eye(3)
    arrays = {
        "weight": centres,
        "train/centres": centres,
        "train/counts": np.array([150, 50, 5]),
        "train/mean_angles": np.zeros(3),
        "train/mean_posteriors": np.ones(3),
    }
    labels = np.repeat(np.arange(3), 4)
    pairs = np.array([(one, other) for one in range(12) for other in range(one)])
    of_split = {
        "embeddings": centres[labels],
        "labels": labels,
        "pairs": pairs,
        "same": labels[pairs[:, 0]] == labels[pairs[:, 1]],
        "fold": np.arange(len(pairs)) % 2,
        "logits": centres[labels],
    }
    arrays |= {f"{split}/{name}": value for split in scoring.SPLITS for name, value in of_split.items()}
    return tuple(sorted(scoring.figures(arrays)))
