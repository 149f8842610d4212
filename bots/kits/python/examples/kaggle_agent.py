"""Runs a ConnectX agent behind the dialect `kaggle`: the negamax of PyPI's kaggle-environments, or one of your own.

    pip install --no-deps kaggle-environments
    fourfold match 'cmd+kaggle:python kaggle_agent.py' negamax:depth=4 --games 20
    fourfold match 'cmd+kaggle:python kaggle_agent.py my_agent.py:act' random --games 20
"""

import contextlib
import importlib.util
import json
import pathlib
import sys
from types import SimpleNamespace


def load(path: pathlib.Path, name: str):
    """The function `name` of a Python file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def connectx_negamax():
    """From its file: importing the whole package takes seconds and needs much that the agent does not."""
    package = importlib.util.find_spec("kaggle_environments")
    if package is None:
        sys.exit("kaggle-environments is missing: pip install --no-deps kaggle-environments")
    return load(pathlib.Path(package.origin).parent / "envs/connectx/connectx.py", "negamax_agent")


def main() -> None:
    if len(sys.argv) > 1:
        path, _, name = sys.argv[1].partition(":")
        agent = load(pathlib.Path(path), name or "agent")
    else:
        agent = connectx_negamax()
    for line in sys.stdin:
        question = json.loads(line)
        observation = SimpleNamespace(**question["observation"])
        configuration = SimpleNamespace(**question["configuration"])
        with contextlib.redirect_stdout(sys.stderr):  # what an agent prints is no answer
            column = agent(observation, configuration)
        print(int(column), flush=True)


if __name__ == "__main__":
    main()
