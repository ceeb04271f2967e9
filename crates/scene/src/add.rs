//! Scenes built in code from values: items added to a scene's lists.

use super::file::without_nulls;
use super::path::within;
use super::schema::{Schemas, faults};
use super::{Fault, Scene};
use serde::Deserialize;
use toml::Value;

impl Scene {
    /// Adds an item to one of the scene's lists (`body`, `material`, `load`, ...), with the keys of a file. Keys, choices and
    /// types are checked at once, numbers and names by [`Scene::resolve`]; keys that are null count as absent.
    pub fn add(&mut self, list: &str, mut item: serde_json::Value) -> Result<(), Vec<Fault>> {
        let alone = |message: String| vec![Fault::new(String::new(), message)];
        let lists: Vec<&str> = Schemas::root()
            .properties()
            .map(|(key, _)| key.as_str())
            .filter(|key| Schemas::root().key(key).is_some_and(|under| under.items().is_some()))
            .filter(|key| *key != "gravity")
            .collect();
        if !lists.contains(&list) {
            return Err(vec![Fault::unknown(String::new(), "list", list, &lists)]);
        }
        without_nulls(&mut item);
        let item = Value::try_from(item).map_err(|e| alone(e.to_string()))?;
        let mut table = self.table().map_err(alone)?;
        let items = table.entry(list).or_insert_with(|| Value::Array(vec![])).as_array_mut();
        let Some(items) = items else { return Err(alone(format!("'{list}' is no list"))) };
        let at = format!("{list}[{}]", items.len());
        items.push(item);
        let wrong: Vec<Fault> =
            faults(&table).into_iter().map(|(f, _)| f).filter(|f| within(&f.path, &at)).collect();
        if !wrong.is_empty() {
            return Err(wrong.into_iter().map(|fault| super::path::with_name(&table, fault)).collect());
        }
        *self = Self::deserialize(table).map_err(|e| vec![Fault::new(at, e.message().to_owned())])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_scene_built_from_values_is_the_one_of_the_file() {
        let mut built = Scene { name: "drop".to_owned(), ..Scene::default() };
        let body = json!({"name": "ball", "shape": {"sphere": {"radius": 0.1}}, "mass": 1, "position": null});
        built.add("body", body).unwrap();
        built.add("world", json!({"name": "ground", "shape": "half_space"})).unwrap();
        let text = "
            [[world]]
            name = 'ground'
            shape = 'half_space'
            [[body]]
            name = 'ball'
            shape = { sphere = { radius = 0.1 } }
            mass = 1
            ";
        assert_eq!(built, crate::from_text("drop.toml", text, &[], |_, _| vec![]).unwrap());
        assert!(built.resolve().is_ok());
    }

    #[test]
    fn a_wrong_item_is_refused_with_its_path_and_the_scene_stays() {
        let mut scene = Scene::default();
        let wrong = |list: &str, item| {
            let faults = Scene::default().add(list, item).unwrap_err();
            faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let told = wrong("body", json!({"name": "ball", "mas": 1}));
        assert_eq!(told, "body[ball].mas: unknown key 'mas', did you mean 'mass'?");
        assert!(
            wrong("bodies", json!({})).starts_with("unknown list 'bodies'"),
            "{}",
            wrong("bodies", json!({}))
        );
        assert!(wrong("gravity", json!(1)).starts_with("unknown list 'gravity'"));
        assert!(wrong("body", json!(3)).starts_with("body[0]"), "{}", wrong("body", json!(3)));
        assert!(scene.add("body", json!({"mass": "heavy", "name": "a"})).is_err());
        assert_eq!(scene, Scene::default());
    }
}
