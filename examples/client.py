"""Submit a job, wait for it, and print the accuracy under each condition: python examples/client.py DATASET MODEL."""

import sys

from gigavqa import Client, JobSpec


def main(dataset: str, model: str) -> None:
    with Client() as client:
        job = client.submit(JobSpec(dataset=dataset, models=(model,), plan="table1"))
        ended = client.wait(job.id)
        print(f"{ended.id} {ended.status}")
        print(client.verdicts(ended.id).groupby("condition")["correct"].mean())


if __name__ == "__main__":
    main(*sys.argv[1:3])
