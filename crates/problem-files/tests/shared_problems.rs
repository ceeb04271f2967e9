//! Other people's problems, where they lie beside the repository: read as numpy and h5py read them.

use complementarity::matrix::Matrix;
use problem_files::{Problem, read};
use std::path::Path;

/// File, rows, and sums computed with numpy from what h5py and numpy read: `|M_ij|`, `M_ij (i - 2 j)`,
/// `q_i (i + 1)`, and the last, weighted by `i + 1`: coefficients of friction, or complementary rows.
type Known = (&'static str, usize, [f64; 4]);

#[rustfmt::skip]
const KNOWN: [Known; 47] = [
    ("lcp/lcp_CPS_1.npz", 2, [4.0, -2.0, -3.0, 0.0]),
    ("lcp/lcp_CPS_3.npz", 4, [150.0, -200.0, -10.0, 0.0]),
    ("lcp/lcp_CPS_4.npz", 4, [89.0, -85.0, 156.0, 0.0]),
    ("lcp/lcp_Pang_isolated_sol.npz", 3, [4.0, 5.0, 1.0, 0.0]),
    ("lcp/lcp_deudeu.npz", 2, [6.0, -3.0, -17.0, 0.0]),
    ("lcp/lcp_enum_fails.npz", 9, [46.610826695356565, -92.8339373078104, -0.0013825497196867046, 0.0]),
    ("lcp/lcp_exp_murty.npz", 6, [36.0, -195.0, -21.0, 0.0]),
    ("lcp/lcp_mmc.npz", 26, [8808695.22602, 138680.86252899887, 138.722260814, 0.0]),
    ("lcp/lcp_ortiz.npz", 4, [18.0, -16.0, 1.0, 0.0]),
    ("lcp/lcp_tobenna.npz", 40, [66540.0, -1080399.0, -292.0, 0.0]),
    ("mlcp/Buck2_mlcp.npz", 32, [20359.593427238884, -60567.155701914846, 596.4943542229074, 318.0]),
    ("mlcp/PD_mlcp.npz", 7, [99.00649999999999, -292.005, 2.9925, 22.0]),
    ("mlcp/RLCD_mlcp.npz", 8, [8.012020249999999, 8.00000025, 0.02354623213350008, 15.0]),
    ("mlcp/deltasigma_mlcp.npz", 221, [1396621.6627421544, -56673845.397389665, 39666.89094069894, 22386.0]),
    ("mlcp/diodeBridge20_mlcp.npz", 31, [151.02249999999998, 84.97500000000002, 121.0, 430.0]),
    ("mlcp/m3n2_mlcp.npz", 5, [47.0, -157.0, -96.0, 12.0]),
    ("mlcp/relay2_mlcp.npz", 6, [8.01, -14.99, -21.394, 11.0]),
    ("fc2d/FC2D_SliderCrankLagrangian00000.hdf5", 4, [8353.439985687157, -3770.8173630445326, -55.16055848787232, 0.03]),
    ("fc2d/FrictionContactProblem00031.hdf5", 22, [23.222468919999997, -233.2906147, 7.734873139488171, 59.4]),
    ("fc2d/FrictionContactProblem00071.hdf5", 178, [317.90933204040005, -18563.391631134, -409.9145101524582, 3604.5]),
    ("fc2d/FrictionContactProblem00237.hdf5", 752, [1742.4354039749999, -410242.7469051078, 17109.10451188297, 63788.4]),
    ("fc2d/fc2d_granularflowonwall_00667_00000.hdf5", 1334, [3394520.127177747, -1773818541.6622117, -1.3438685927957827e-15, 111389.0]),
    ("fc2d/gfc2d_granularflowonwall_00069_00350.hdf5", 138, [399107.97550942854, -22161049.910463985, -583.5643059671427, 1207.5]),
    ("fc3d/Box_Stacks-i0122-82-5.hdf5", 246, [2728.2221873654566, -214352.16676540245, -11.739621433293882, 1020.9]),
    ("fc3d/BoxesStack1-i100000-32.hdf5", 156, [515188.21757727937, -16693557.483668495, -19130.37190163798, 964.6]),
    ("fc3d/Capsules-i100-889.hdf5", 828, [8550.330739011957, -1218842.9858963727, 2429.992106490956, 26758.2]),
    ("fc3d/Capsules-i101-404.hdf5", 675, [6657.276152104384, -768579.3441852004, 3433.8583402929635, 17797.499999999996]),
    ("fc3d/Capsules-i125-1213.hdf5", 858, [8631.795352278514, -1408301.6568987148, 14613.90350640547, 28728.7]),
    ("fc3d/Confeti-ex13-4contact-Fc3D-SBM.hdf5", 12, [0.004308906804, -0.013456797948, 146.37794661053354, 0.4]),
    ("fc3d/Confeti-ex13-Fc3D-SBM.hdf5", 321, [0.21829010556168899, -8.493050036000897, -1030574.3177701641, 231.11999999999998]),
    ("fc3d/FC3D_Example1.hdf5", 9, [9.0, -36.0, 57.0, 0.6000000000000001]),
    ("fc3d/FrictionContact3D_1c.hdf5", 3, [53.0, -44.0, 12.0, 0.1]),
    ("fc3d/FrictionContact3D_RR_1c.hdf5", 3, [0.12430248420000001, -0.1124749579, -1.0971000000000002, 0.6]),
    ("fc3d/GFC3D_Example00_badly_scaled.hdf5", 3, [10001.0001, -1.0002, -10002.0003, 0.1]),
    ("fc3d/GFC3D_OneContact.hdf5", 3, [3.1934723831978746, -2.4333484610368132, 0.16310996426354568, 0.5]),
    ("fc3d/GFC3D_TwoRods1-condensed.hdf5", 9, [16.03257986314, -10.299366882439998, 7.736051203268916, 0.6000000000000001]),
    ("fc3d/KaplasTower-i1061-4.hdf5", 1710, [8294512.261179174, -2643908537.6230707, -1611772.7765363604, 48820.5]),
    ("fc3d/LMGC_GlobalFrictionContactProblem00046.hdf5", 27, [1.562495231089363, -16.456511493273872, -5.6437487892101785, 13.499999999999998]),
    ("fc3d/NESpheres_10_1.hdf5", 27, [29.410872651712154, -218.20755798504217, 68.46357135740817, 36.0]),
    ("fc3d/OneObject-i100000-316.hdf5", 75, [3483.172090997643, -36649.142446800826, 79.67826794152899, 97.5]),
    ("fc3d/RockPile_tob1.hdf5", 1389, [41312.93439078086, -8355767.964457142, 128996.19108873472, 107416.0]),
    ("fc3d/Rover1039.hdf5", 12, [0.6153467847346732, -2.769854222197263, -6.39861530668457, 6.999999999999999]),
    ("fc3d/Rover1040.hdf5", 15, [0.7844987614273993, -4.32759855464209, -2.429088503569673, 10.5]),
    ("fc3d/Rover11035.hdf5", 3, [0.1231410742618737, -0.11059581956233261, -0.687807170886952, 0.7]),
    ("fc3d/Rover3865.hdf5", 15, [0.7551398611269118, -4.297676965694999, 29.118844444839002, 10.5]),
    ("fc3d/Rover4144.hdf5", 12, [0.5694744267863756, -2.677020788894734, 0.6192576481440568, 6.999999999999999]),
    ("fc3d/Rover4493.hdf5", 12, [0.6067852057473837, -2.7435482181084416, -34.069641600165916, 6.999999999999999]),
];

/// A sum, and the sum of the terms' absolute values.
fn sums(terms: impl Iterator<Item = f64>) -> [f64; 2] {
    terms.fold([0.0; 2], |[sum, size], x| [sum + x, size + x.abs()])
}

fn of(m: &Matrix, q: &[f64], last: &[f64]) -> [[f64; 2]; 4] {
    let n = m.columns();
    let entries = || m.data().iter().enumerate();
    let weighted = |v: &[f64]| sums(v.iter().enumerate().map(|(i, x)| x * (i + 1) as f64));
    [
        sums(m.data().iter().map(|x| x.abs())),
        sums(entries().map(|(k, x)| x * ((k / n) as f64 - 2.0 * (k % n) as f64))),
        weighted(q),
        weighted(last),
    ]
}

#[test]
fn problems_of_others_are_read_as_numpy_and_h5py_read_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems");
    if !folder.is_dir() {
        return;
    }
    let mut count = 0;
    for (name, rows, expected) in KNOWN {
        let path = folder.join(name);
        if !path.is_file() {
            continue;
        }
        let problem = read(&path).unwrap();
        assert_eq!(problem.size(), rows, "{name}");
        let found = match &problem {
            Problem::Lcp(p) => of(p.matrix(), p.vector(), &[]),
            Problem::Mixed(p) => {
                let comp: Vec<f64> = p.complementary().iter().map(|&c| f64::from(u8::from(c))).collect();
                of(p.matrix(), p.vector(), &comp)
            }
            Problem::Boxed(p) => of(p.matrix(), p.vector(), &[]),
            Problem::Friction(p) => of(&p.matrix(), p.vector(), &p.mu()),
        };
        for (k, [sum, size]) in found.into_iter().enumerate() {
            assert!((sum - expected[k]).abs() <= 1e-12 * size, "{name}, sum {k}: {sum} != {}", expected[k]);
        }
        count += 1;
    }
    assert_eq!(count, KNOWN.len(), "problems read");
}
