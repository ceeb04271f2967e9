//! Hunt and Crossley's law in the theta scheme: against its restitution, and against the compliant scheme.

use stiction::stepper::Stepper;

fn end(text: &str, time: f64, h: f64) -> (Vec<f64>, Vec<f64>) {
    let mut scene = stiction::from_toml("scene", text).expect("a scene");
    scene.set("step.h", &format!("{h:e}")).expect("a step");
    let mut stepper = Stepper::new(scene).expect("a model");
    let mut state = stepper.initial();
    for _ in 0..(time / h).round() as usize {
        let _ = stepper.step(&mut state).expect("a step");
    }
    (state.position, state.velocity)
}

fn ball(law: &str, rest: &str) -> String {
    format!(
        "[[world]]\n name = 'ground'\n shape = 'half_space'\n [[body]]\n name = 'ball'\n shape = {{ sphere = {{ radius = 0.1 }} }}\n mass = 2
        {rest}\n [[material]]\n name = 'default'\n law = {{ hunt_crossley = {{ {law} }} }}\n"
    )
}

#[test]
fn a_ball_returns_the_velocity_of_the_closed_form_to_first_order() {
    // v0 + v1 + ln((1 - c v1)/(1 + c v0))/c = 0 for any exponent, c = 3/2 alpha
    let (v0, alpha) = (0.7f64, 0.4f64);
    let c = 1.5 * alpha;
    let (mut low, mut high) = (0.0, v0);
    while high - low > 1e-15 {
        let v1 = 0.5 * (low + high);
        if v0 + v1 + ((1.0 - c * v1) / (1.0 + c * v0)).ln() / c > 0.0 { low = v1 } else { high = v1 }
    }
    for exponent in [1.0, 1.5, 2.0, 3.0] {
        let text = ball(
            &format!("stiffness = 1e6, exponent = {exponent}, dissipation = {alpha}"),
            &format!("position = [0, 0, 0.11]\n velocity = [0, 0, {}]", -v0),
        );
        let text = format!("gravity = [0, 0, 0]\n friction_rule = 'minimum'\n {text} friction = 0\n");
        let errors: Vec<f64> =
            [1e-4, 5e-5, 2.5e-5].iter().map(|h| (end(&text, 0.3, *h).1[2] - low).abs()).collect();
        println!("exponent {exponent}: v1 = {low}, errors {errors:?}");
        assert!(errors[2] < 0.02, "{exponent}: {errors:?}");
        for pair in errors.windows(2) {
            assert!((1.6..2.6).contains(&(pair[0] / pair[1])), "{exponent}: {errors:?}");
        }
    }
}

#[test]
fn a_rod_s_motion_tends_to_that_of_the_compliant_scheme_to_first_order() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/song2001/case1-1e-2.toml");
    let text = std::fs::read_to_string(path).expect("a scene");
    let exact = end(&text, 0.15, 1e-3);
    let text = text.replace("scheme = \"compliant\"", "");
    let errors: Vec<f64> = [4e-4, 2e-4, 1e-4, 5e-5]
        .iter()
        .map(|h| {
            let (q, v) = end(&text, 0.15, *h);
            let apart =
                |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            apart(&q, &exact.0).max(apart(&v, &exact.1))
        })
        .collect();
    println!("errors {errors:?}");
    assert!(errors[3] < 2e-3, "{errors:?}");
    for pair in errors.windows(2) {
        assert!((1.5..2.7).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}

#[test]
fn with_friction_it_needs_something_tangential() {
    let text = ball("stiffness = 1e6, exponent = 1.5, dissipation = 0.4", "position = [0, 0, 0.1]");
    let text = format!("{text} friction = 0.5");
    let message = stiction::from_toml("scene", &text).map(|_| ()).expect_err("a fault").to_string();
    assert!(message.contains("tangential_stiffness"), "{message}");
}
