"""Images that stay on disk, read and decoded by threads ahead of the step that needs them.

The order is given, so the number of threads changes the pace and nothing else. Decoders release Python's lock. Threads
need no shared memory for the decoded images: with processes, writing to it takes as long as half of the decoding.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from torch import Tensor

from datasets import Images

AHEAD = 4  # batches that are ready or in work, per thread


def batches_of(images: Images, order: Sequence[Tensor], loaders: int) -> Iterator[Tensor]:
    """The images of each index in turn; without `loaders`, and from memory, they are read when they are needed."""
    if isinstance(images, Tensor) or loaders == 0:
        yield from (_pick(images, index) for index in order)
        return
    pool = ThreadPoolExecutor(loaders, thread_name_prefix="loader")
    try:
        ahead = AHEAD * loaders
        waiting = deque(pool.submit(images.__getitem__, index) for index in order[:ahead])
        for place in range(len(order)):
            batch = waiting.popleft().result()
            if place + ahead < len(order):
                waiting.append(pool.submit(images.__getitem__, order[place + ahead]))
            yield batch
    finally:
        pool.shutdown(cancel_futures=True)


def _pick(images: Images, index: Tensor) -> Tensor:
    if isinstance(images, Tensor):
        return images.index_select(0, index.to(images.device))  # much faster than images[index]
    return images[index]
