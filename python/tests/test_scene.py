"""Scenes: read, built in code, changed by path, refused with the program's messages."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import SCENES

import stiction as st


def ball() -> st.Scene:
    scene = st.Scene("drop", h=2e-3)
    scene.add_material("steel", friction=0.3)
    scene.add_world("ground", shape="half_space", material="steel")
    scene.add_body("ball", shape={"sphere": {"radius": 0.1}}, mass=np.float64(2), position=np.array([0, 0, 1.0]))
    return scene


def test_a_scene_built_in_code_is_the_one_of_a_file() -> None:
    text = """
        name = "drop"
        material = [{ name = "steel", friction = 0.3 }]
        world = [{ name = "ground", shape = "half_space", material = "steel" }]
        body = [{ name = "ball", shape = { sphere = { radius = 0.1 } }, mass = 2, position = [0, 0, 1] }]
        step = { h = 2e-3 }
    """
    assert ball() == st.Scene.from_toml(text)
    assert ball() == st.Scene.from_dict(ball().to_dict())
    assert ball() == st.Scene.from_toml(ball().to_toml())
    assert ball().check() == []
    assert (ball().bodies, ball().world, ball().materials) == (["ball"], ["ground"], ["steel"])


@pytest.mark.parametrize("path", sorted(SCENES.glob("*.toml")), ids=lambda p: p.stem)
def test_every_scene_comes_back_from_a_dictionary_and_a_pickle(path: object) -> None:
    scene = st.Scene.from_file(path)  # type: ignore[arg-type]
    assert st.Scene.from_dict(scene.to_dict()) == scene
    assert pickle.loads(pickle.dumps(scene)) == scene


def test_values_are_read_and_set_by_path() -> None:
    scene = ball()
    scene.set("body[ball].mass", 3)
    scene["material[steel].friction"] = np.float32(0.5)
    scene.set("step.solver", "lemke")
    scene.set("body[ball].velocity", (1, 0, 0))
    assert (scene.get("body[ball].mass"), scene["material[steel].friction"]) == (3, 0.5)
    assert (scene["step.solver"], scene["body[ball].velocity"]) == ("lemke", [1, 0, 0])
    other = st.Scene.from_file(SCENES / "sliding-sphere.toml", set={"step.h": 5e-4, "body[ball].mass": 2})
    assert (other["step.h"], other["body[ball].mass"]) == (5e-4, 2)
    half_built = st.Scene("half")
    half_built.add_body("arm", parent="nobody yet")
    assert "unknown body 'nobody yet'" in " ".join(f.message for f in half_built.check())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ball().add_body("b", mas=1), "body[b].mas: unknown key 'mas', did you mean 'mass'?"),
        (lambda: ball().set("body[bal].mass", 1), "unknown path 'body[bal].mass', did you mean 'body[ball].mass'?"),
        (lambda: ball().set("step.h", "short"), "step.h"),
        (lambda: ball().get("body[ball].inertia"), "'inertia' is not given"),
        (lambda: ball().add("bodies", name="b"), "unknown list 'bodies'"),
        (lambda: st.Model({"body": [{"name": "a", "mass": -1}]}), "body[a].mass"),
        (lambda: st.Scene.from_toml("body = 3"), "scene:1:8"),
        (lambda: st.Scene.from_toml("planar = "), "scene:1:"),
    ],
)
def test_faults_have_the_programs_words(wrong, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(st.SceneError) as caught:
        wrong()
    assert message in str(caught.value)
    assert isinstance(caught.value, (ValueError, st.Error)) and len(caught.value.faults) >= 1


def test_wrong_types_and_numbers_name_the_place() -> None:
    with pytest.raises(ValueError, match=r"body\[b\].mass: NaN, expected a finite number"):
        ball().add_body("b", mass=float("nan"))
    with pytest.raises(TypeError, match="a value of type set"):
        ball().add_body("b", position={1, 2})
    with pytest.raises(TypeError, match="None, expected a value"):
        ball().set("step.h", None)
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested too deeply"):
        ball().add_body("b", position=endless)
    with pytest.raises(FileNotFoundError, match="nowhere.toml"):
        st.Scene.from_file("nowhere.toml")
    with pytest.raises(TypeError, match="int, expected a Model, a Scene, the path"):
        st.Simulation(3)  # type: ignore[arg-type]


def test_all_faults_are_listed_with_their_places() -> None:
    with pytest.raises(st.SceneError) as caught:
        st.Scene.from_toml("planar = 3\n[[body]]\nname = 'a'\nmas = 1\n", "bad.toml")
    assert [f.place for f in caught.value.faults] == [(1, 10), (4, 1)]
    assert caught.value.faults[1].suggestion == "mass"
    assert str(caught.value).splitlines()[1].startswith("bad.toml:4:1: unknown key 'mas'")


def test_reprs_say_what_is_there() -> None:
    assert repr(ball()) == "<Scene 'drop': 1 body (ball), 1 world part, 1 material, h = 0.002 s>"
    assert repr(st.Model(ball())) == "<Model 'drop': 1 body, 2 shapes, nq = 7, nv = 6, h = 0.002 s>"
    assert st.schema()["title"] == "Stiction scene"


def test_capabilities_say_what_combines_with_what():
    rows = {row["thing"]: row for row in st.capabilities()}
    assert rows["layer"]["implicit"] is True and rows["layer"]["theta"] is False
    assert rows["polygon"]["event"] == "a planar scene"


def test_a_file_is_not_taken_for_the_name_of_a_scene() -> None:
    for name in ("slide.toml", "scenes/slide", str(SCENES / "sliding-sphere.toml")):
        with pytest.raises(ValueError, match="from_file"):
            st.Scene(name)
    assert st.Scene("slide").bodies == []


def test_what_is_most_likely_not_meant_is_a_warning() -> None:
    scene = ball()
    scene["material[steel].friction"] = 30
    with pytest.warns(st.SceneWarning, match=r"material\[steel\].friction: friction is 30"):
        model = st.Model(scene)
    assert len(model.warnings) == 1 and "friction is 30" in model.warnings[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert st.Model(ball()).warnings == []


def test_escapes_in_messages_are_shown_and_not_sent() -> None:
    with pytest.raises(st.SceneError) as caught:
        st.Scene.from_toml("[[body]]\nname = 'a'\nmass = '=\x1b[2J'\n".replace("'='", "'='"), "x\x1b[31m.toml")
    assert "\x1b" not in str(caught.value) and "\\u001b[31m" in str(caught.value)
