"""A ball that slides without spin ends rolling at 5/7 of its velocity, whatever the friction."""

import stiction as st


def ball(friction: float) -> st.Scene:
    scene = st.Scene("sliding ball", duration=0.5)
    scene.add_material("felt", friction=friction)
    scene.add_world("table", shape="half_space", material="felt")
    scene.add_body(
        "ball",
        shape={"sphere": {"radius": 0.03}},
        mass=0.2,
        material="felt",
        position=[0, 0, 0.03],
        velocity=[1, 0, 0],
    )
    return scene


def main() -> None:
    for friction in (0.1, 0.3, 0.6):
        sim = st.Simulation(ball(friction))
        while True:
            sim.step()
            if sim.contacts()["status"][0] == "stick":
                break
        print(f"mu = {friction}: rolls from t = {sim.time:.3f} s on (theory {2 / (7 * friction * 9.81):.3f} s)")
        run = sim.run()
        print(f"  v = {sim.v['ball'][0]:.6f} m/s (theory {5 / 7:.6f}), worst residual {run.residual:.1e}")


if __name__ == "__main__":
    main()
