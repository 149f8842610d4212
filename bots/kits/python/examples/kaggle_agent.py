"""Runs a ConnectX agent behind the dialect `kaggle`: the negamax of PyPI's kaggle-environments, or one of your own.

    pip install --no-deps kaggle-environments
    fourfold match 'cmd+kaggle:python kaggle_agent.py' negamax:depth=4 --games 20
    fourfold match 'cmd+kaggle:python kaggle_agent.py my_agent.py:act' random --games 20
"""

import contextlib
import importlib.util
import inspect
import json
import pathlib
import sys


class Struct(dict):
    """Fields by name and by key, as agents know them: `obs.board` and `obs["board"]`."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:  # as `hasattr`, `getattr` with a default, and `copy.deepcopy` want it
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__


def load(path: pathlib.Path, name: str):
    """The function `name` of a Python file; without a name the last one that it defines, as Kaggle takes it.

    What lies beside the file can be imported and is found from it, as on Kaggle.
    """
    path = path.resolve()
    sys.path.insert(0, str(path.parent))
    # Under a name that no module of the agent's own can have.
    spec = importlib.util.spec_from_file_location(f"agent in {path.name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    if name:
        return getattr(module, name)
    functions = [value for value in vars(module).values() if callable(value)]
    return functions[-1] if functions else sys.exit(f"{path} defines no function")


def arguments_of(agent) -> int:
    """How many of observation and configuration an agent takes; two if it does not say."""
    try:
        parameters = inspect.signature(agent).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 2
    return min(2, sum(parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters))


def connectx_negamax():
    """From its file: importing the whole package takes seconds and needs much that the agent does not."""
    package = importlib.util.find_spec("kaggle_environments")
    if package is None:
        sys.exit("kaggle-environments is missing: pip install --no-deps kaggle-environments")
    return load(pathlib.Path(package.origin).parent / "envs/connectx/connectx.py", "negamax_agent")


def main() -> None:
    if len(sys.argv) > 1:
        path, _, name = sys.argv[1].partition(":")
        agent = load(pathlib.Path(path), name)
    else:
        agent = connectx_negamax()
    taken = arguments_of(agent)
    for line in sys.stdin:
        question = json.loads(line, object_hook=Struct)
        given = (question.observation, question.configuration)
        with contextlib.redirect_stdout(sys.stderr):  # what an agent prints is no answer
            column = agent(*given[:taken])
        print(int(column), flush=True)


if __name__ == "__main__":
    main()
