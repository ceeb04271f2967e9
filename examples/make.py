#!/usr/bin/env python3
"""Makes the example problems (needs numpy and h5py).

rod.npz           Painleve's rod: half length 0.5 m, 60 degrees, mu = 1.5, its lower end sliding. The normal force and acceleration of
                  that end form an LCP of size 1 with M < 0, q < 0: no solution.
rod-spinning.npz  the same rod turning at 6 rad/s: q > 0, so it may lift off or jam. Two solutions.
brake.npz         two flywheels on one shaft, coupled by a clutch that carries at most 3 N m and braked by at most 5 N m, over a step of
                  10 ms: a mixed LCP with box bounds. Velocities are free, the moments boxed: the clutch slips, the brake holds.
table.hdf5        a rigid table (1 kg, g = 9.81 m/s^2, a step of 1 ms) on four legs, pushed sideways: FCLIB, four contacts of three rows.
                  The legs' shares are not unique.
squeezed.hdf5     a ball (1 kg, radius 0.1 m, 0.5 m/s) between two fixed planes that are 0.1 mm nearer than its diameter, a step of 1 ms: no
                  solution.
"""
import os
import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
G = 9.81


def rod(name, omega, mu=1.5, half=0.5, angle=np.radians(60)):
    s, c = np.sin(angle), np.cos(angle)
    # a_n = (1 + 3 c^2 - 3 mu s c) c_n / m + half omega^2 s - g, I = m half^2 / 3, m = 1
    np.savez(os.path.join(HERE, name), M=[[1 + 3 * c * c - 3 * mu * s * c]], q=[half * omega**2 * s - G])


def brake(name, h=0.01, inertia=(0.2, 0.1), omega=(0.0, 3.0), motor=1.0):
    # I_1 (w1 - omega_1) = h (motor - brake + clutch),  I_2 (w2 - omega_2) = -h clutch; z = (w1, w2, brake, clutch)
    a, b = inertia
    m = np.array([[a, 0, h, -h], [0, b, 0, h], [-1, 0, 0, 0], [1, -1, 0, 0]], float)
    q = np.array([-a * omega[0] - h * motor, -b * omega[1], 0, 0])
    inf = np.inf
    np.savez(os.path.join(HERE, name), M=m, q=q, l=[-inf, -inf, -5, -3], u=[inf, inf, 5, 3])


def table(name, h=1e-3, mass=1.0, side=1.0, height=0.7):
    inertia = np.diag([0.15, 0.15, 0.2])
    legs = [np.array([x, y, -height]) for x in (-side / 2, side / 2) for y in (-side / 2, side / 2)]
    rows = []
    for r in legs:
        for d in np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]]):
            rows.append(np.concatenate([d, np.cross(r, d)]))
    j = np.array(rows)
    m_inv = np.zeros((6, 6))
    m_inv[:3, :3] = np.eye(3) / mass
    m_inv[3:, 3:] = np.linalg.inv(inertia)
    push = np.array([2.0, 0, -mass * G, 0, 0, 0])
    write(name, h * j @ m_inv @ j.T, h * j @ m_inv @ push)


def squeezed(name, h=1e-3, mass=1.0, radius=0.1, overlap=5e-5):
    rows = []
    for n in (1.0, -1.0):
        r = np.array([0, 0, -n * radius])
        for d in np.array([[0, 0, n], [1, 0, 0], [0, n, 0]]):
            rows.append(np.concatenate([d, np.cross(r, d)]))
    j = np.array(rows)
    m_inv = np.diag([1 / mass] * 3 + [1 / (0.4 * mass * radius**2)] * 3)
    q = j @ np.array([0.5, 0, -h * G, 0, 0, 0])
    q[[0, 3]] -= overlap / h
    write(name, h * j @ m_inv @ j.T, q)


def write(name, w, q, mu=0.5):
    with h5py.File(os.path.join(HERE, name), "w") as f:
        g = f.create_group("fclib_local")
        g["spacedim"] = np.array([3], np.int32)
        i, k = np.nonzero(np.ones_like(w))
        one = lambda v: np.array([v], np.int32)
        for key, value in dict(m=one(len(q)), n=one(len(q)), nz=one(w.size), nzmax=one(w.size), i=i.astype(np.int32), p=k.astype(np.int32), x=w[i, k]).items():
            g[f"W/{key}"] = value
        g["vectors/q"], g["vectors/mu"] = q, np.full(len(q) // 3, mu)


if __name__ == "__main__":
    rod("rod.npz", 0.0)
    rod("rod-spinning.npz", 6.0)
    brake("brake.npz")
    table("table.hdf5")
    squeezed("squeezed.hdf5")
