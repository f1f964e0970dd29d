"""The findings of a look, as `./ertslab diagnose --json` prints them, a line for each sign: its kind and whom it is of, apart by a tab.

A process has its identifier and its name, processes alike what they are and how many, with the name of the one that is worst; a sign
of the node has its evidence.
"""
import json
import sys


def subject(of, evidence):
    if "process" in of:
        return " ".join(str(value) for value in of["process"].values() if value is not None)
    if "group" in of:
        group = of["group"]
        names = [str(value) for member in [*group["members"], evidence.get("worst", {})] for value in member.values() if value is not None]
        return " ".join([str(group["count"]), group["label"], *names])
    return json.dumps(evidence)


for finding in json.load(sys.stdin)["findings"]:
    for sign in finding["signs"]:
        print(sign["kind"], subject(finding["subject"], sign["evidence"]), sep="\t")
