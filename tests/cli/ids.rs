//! Ids as people type them.

use relayroom::store::Store;
use relayroom::store::Time;

use super::home::Home;

#[test]
fn cli_027_the_end_of_an_id_names_a_thread_if_it_is_the_only_one() {
    let mut home = Home::furnished();
    for subject in ["one", "two", "three"] {
        home.done(&["send", "web", subject, "-m", "x"]);
    }
    home.kill();
    let store = Store::open(&home.db(), "", Time(1)).unwrap();
    store
        .write_blocking(|tx| {
            for (subject, id) in [
                ("one", "01900000-0000-7000-8000-aaaaaa3f9a2c"),
                ("two", "01900000-0000-7000-8000-bbbbbb3f9a2c"),
                ("three", "01900000-0000-7000-8000-cccccc000001"),
            ] {
                tx.execute(
                    "UPDATE thread SET id = ?2 WHERE subject = ?1",
                    (subject, id),
                )?;
            }
            Ok(())
        })
        .unwrap();
    drop(store);
    home.serve();

    let only = home.json(&["show", "000001"]);
    assert_eq!(only["thread"]["subject"], "three");
    assert_eq!(
        home.json(&["show", "…CC000001"])["thread"]["subject"],
        "three"
    );

    let several = home.run(&["show", "3f9a2c"]);
    assert_eq!(several.code, 5, "{several:?}");
    assert!(several.err.contains("8000-aaaaaa3f9a2c"), "{several:?}");
    assert!(several.err.contains("8000-bbbbbb3f9a2c"), "{several:?}");

    let short = home.run(&["show", "f9a2c"]);
    assert_eq!(short.code, 2, "{short:?}");
    let nobody = home.run(&["show", "fffffff"]);
    assert_eq!(nobody.code, 5, "{nobody:?}");
}
