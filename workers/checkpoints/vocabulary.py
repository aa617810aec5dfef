"""The vocabulary of the small checkpoints: a byte-level BPE trained on a few sentences about pictures."""

from collections.abc import Sequence

from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

TEXT_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
ANSWER_LETTERS = ("A", "B", "C", "D")
NUM_TOKENS = 1024

_SENTENCES = """
Question: how many people are there in the image? Answer with the letter of the correct option. The correct answer is A.
The person at the bottom of the picture wears a red coat and carries a yellow bag. The vehicle is turning left.
Options: A. two B. three C. four D. five. Answer with the option's letter directly. The answer is B.
There are several ships in the harbour, an airplane on the runway, storage tanks beside the bridge and a tennis court.
The tissue in the upper left region shows dense cells with dark nuclei; the lower right region shows normal stroma.
Which region of the whole slide image contains the tumor? Think step by step, then write the final answer as a letter.
Which product in the grid is different? Give its coordinate as (row, column), starting at the top left.
The anomaly is a scratch, a lost screw, a color, a broken edge, a bent cable or a missing part. The answer is C.
First locate the objects, then count them in each quadrant: upper-left, upper-right, lower-left and lower-right.
Compare the number of objects between both halves of the scene and choose the largest, the smallest, or none of them.
Step 1: the camera looks from above. Step 2: the background is grey and green. Step 3: the total is 0, 1, 2, 3, 4, 5, 6,
7, 8, 9 or 10. Therefore the difference is zero, and the final answer is D. Yes, no, true, false, left, right, near.
"""


def train_tokenizer(
    special_tokens: Sequence[str], special_marks: Sequence[str] = (), plain_marks: Sequence[str] = ()
) -> Tokenizer:
    """Train the tokenizer; the same vocabulary every time. The special tokens have the lowest ids, in their order.

    Marks have the highest ids, so that they change no other token's; the plain ones are tokens without being special.
    """
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=NUM_TOKENS - len(special_marks) - len(plain_marks),
        min_frequency=1,
        special_tokens=[AddedToken(token, special=True) for token in special_tokens],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_SENTENCES.strip().splitlines(), trainer)
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in special_marks])
    tokenizer.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in plain_marks])
    return tokenizer
