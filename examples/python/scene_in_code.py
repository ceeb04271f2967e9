"""A row of dominoes built in code falls; which contact closed when."""

import stiction as st


def dominoes(count: int) -> st.Scene:
    scene = st.Scene("dominoes", h=1e-3, duration=1.5)
    scene.add_material("plastic", friction=0.4, density=1200)
    scene.add_world("table", shape="half_space", material="plastic")
    for k in range(count):
        scene.add_body(
            f"domino{k}",
            shape={"box": {"half": [0.005, 0.02, 0.04]}},
            material="plastic",
            position=[0.04 * k, 0, 0.04],
        )
    # the first one is pushed over; every value has a path
    scene.set("body[domino0].angular_velocity", [0, 6, 0])
    return scene


def main(count: int = 5) -> None:
    scene = dominoes(count)
    print(scene)
    assert scene.check() == []
    sim = st.Simulation(scene)
    hits: dict[str, float] = {}
    while sim.time < 1.0:
        sim.step()
        for event in sim.events():
            if event["event"] == "close" and "domino" in event["body_a"]:
                hits.setdefault(f"{event['body_a']} hits {event['body_b']}", float(event["time"]))
    for hit, time in hits.items():
        print(f"t = {time:.3f} s: {hit}")
    lowest = sim.bodies()["center"][:, 2].max()
    print(f"highest centre at the end: {1e3 * lowest:.1f} mm (40 mm standing)")


if __name__ == "__main__":
    main()
