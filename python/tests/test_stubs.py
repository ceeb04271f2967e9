"""The stubs say what the module has, and everything has a docstring."""

import ast
import inspect
from pathlib import Path

import pytest

import stiction as st
from stiction import _core

STUB = Path(st.__file__).parent / "_core.pyi"
TREE = ast.parse(STUB.read_text())
# what every class has, and the stub says by its type alone
PLAIN = {"__module__", "__doc__", "__dict__", "__weakref__", "__new__", "__eq__", "__ne__", "__lt__", "__le__"}
PLAIN |= {"__gt__", "__ge__", "__hash__", "__repr__", "__reduce__", "__delitem__", "__init__"}


def stub_members(tree: ast.Module | ast.ClassDef) -> dict[str, ast.stmt]:
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.setdefault(node.name, node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def stub_parameters(node: ast.FunctionDef, is_method: bool) -> list[tuple[str, str, bool]]:
    a = node.args
    names = [(p.arg, "positional") for p in a.posonlyargs] + [(p.arg, "any") for p in a.args]
    defaults = [False] * (len(names) - len(a.defaults)) + [True] * len(a.defaults)
    out = [(name, kind, has) for (name, kind), has in zip(names, defaults)]
    out = out[1:] if is_method else out
    out += [(p.arg, "keyword", d is not None) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return out + ([(a.kwarg.arg, "rest", False)] if a.kwarg else [])


KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "any",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "rest",
}


def parameters(function: object) -> list[tuple[str, str, bool]]:
    listed = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [(p.name, KINDS[p.kind], p.default is not p.empty) for p in listed if p.name not in ("self", "cls")]


def test_the_module_and_its_stub_have_the_same_members() -> None:
    module = {name for name in vars(_core) if not name.startswith("__") or name == "__version__"}
    assert module == {name for name in stub_members(TREE)}


@pytest.mark.parametrize("name", [n.name for n in TREE.body if isinstance(n, ast.ClassDef)])
def test_classes_and_their_stubs_agree(name: str) -> None:
    node = next(n for n in TREE.body if isinstance(n, ast.ClassDef) and n.name == name)
    cls, stub = getattr(_core, name), stub_members(node)
    own = {n for n in vars(cls) if n not in PLAIN}
    assert own == set(stub) - {"__init__"}
    for member, declared in stub.items():
        value = inspect.getattr_static(cls, member)
        if isinstance(declared, ast.AnnAssign):
            assert inspect.isgetsetdescriptor(value), member
            continue
        assert isinstance(declared, ast.FunctionDef)
        decorators = {ast.unparse(d) for d in declared.decorator_list}
        if "property" in decorators:
            assert inspect.isgetsetdescriptor(value), member
            continue
        static = "staticmethod" in decorators
        found = parameters(cls if member == "__init__" else getattr(cls, member))
        if not member.startswith("__") or member == "__init__":
            assert found == stub_parameters(declared, not static), f"{name}.{member}"


def test_functions_and_their_stubs_agree() -> None:
    for node in TREE.body:
        if isinstance(node, ast.FunctionDef):
            assert parameters(getattr(_core, node.name)) == stub_parameters(node, False), node.name


def test_everything_public_has_a_docstring() -> None:
    for name in st.__all__:
        value = getattr(st, name)
        if name == "__version__":
            continue
        assert value.__doc__, name
        if inspect.isclass(value) and value.__module__ == "stiction":
            for member, inner in vars(value).items():
                if not member.startswith("_"):
                    assert inner.__doc__, f"{name}.{member}"


def test_the_package_is_typed_and_lists_its_names() -> None:
    assert (STUB.parent / "py.typed").exists()
    assert sorted(dir(st)) == sorted(st.__all__) and all(hasattr(st, name) for name in st.__all__)
