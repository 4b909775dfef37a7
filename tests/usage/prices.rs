//! What tokens cost (usage.md 9 and 12).

use std::fs;

use relayroom::activity::ledger;
use relayroom::activity::ledger::By;
use relayroom::activity::ledger::Filter;
use relayroom::activity::ledger::Grouping;
use relayroom::activity::ledger::Page;
use relayroom::activity::ledger::Unit;
use relayroom::activity::price::Prices;
use relayroom::activity::zone::Zone;
use relayroom::store::Time;
use serde_json::json;

use super::reporter::Hook;
use crate::support::world::World;

/// A person's table beside a database.
fn prices(text: &str) -> Prices {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prices.toml");
    fs::write(&file, text).unwrap();
    Prices::load(&file).unwrap()
}

fn page(world: &World, prices: &Prices, unit: Option<Unit>) -> Page {
    let zone = Zone::find(None).unwrap();
    let filter = Filter {
        project: world.shop,
        part: None,
        provider: None,
        model: None,
        cause: None,
        wake: None,
        thread: None,
        from: Time(0),
        to: Time(world.now().0 + 1),
    };
    let grouping = Grouping {
        by: By::Model,
        unit,
        zone: &zone,
        prices,
        limit: None,
    };
    world
        .read(|connection| ledger::page(connection, &filter, &grouping))
        .unwrap()
}

const THREE_AND_FIFTEEN: &str =
    "as_of = \"2026-11-01\"\n[[price]]\nmodel = \"model-a\"\ninput = 3.0\noutput = 15.0\n";

#[test]
fn usage_042_what_is_known_costs_and_what_is_not_has_no_cost() {
    let prices = prices(THREE_AND_FIFTEEN);
    for (row, usd, unpriced) in [
        (
            json!({"model": "model-a", "input_tokens": 1_000_000, "output_tokens": 100_000}),
            Some(4.5),
            0,
        ),
        (
            json!({"model": "nobody-knows", "input_tokens": 1_000, "output_tokens": 10}),
            None,
            1_010,
        ),
        (
            json!({"model": "nobody-knows", "input_tokens": 1_000, "cost_usd": 0.0042}),
            Some(0.0042),
            0,
        ),
        (
            json!({"model": "model-a", "input_tokens": 1_000, "cache_read_tokens": 50_000}),
            None,
            51_000,
        ),
        (json!({"model": "", "output_tokens": 7}), None, 7),
    ] {
        let world = World::new();
        let hook = Hook::new(&world);
        let mut whole = row.clone();
        whole["key"] = json!("m1");
        whole["at"] = json!(world.now().rfc3339());
        hook.posts(vec![whole]);
        let page = page(&world, &prices, None);
        assert_eq!(page.total.cost.usd(), usd, "{row}");
        assert_eq!(page.total.cost.unpriced, unpriced, "{row}");
        assert_eq!(page.unpriced_models.len(), usize::from(unpriced > 0));
    }
}

#[test]
fn a_page_says_what_it_knows_and_how_many_tokens_have_no_price() {
    let world = World::new();
    let hook = Hook::new(&world);
    let at = world.now().rfc3339();
    hook.posts(vec![
        json!({"key": "m1", "at": at, "model": "model-a", "input_tokens": 1_000_000}),
        json!({"key": "m2", "at": at, "model": "other", "input_tokens": 500}),
    ]);
    let page = page(&world, &prices(THREE_AND_FIFTEEN), None);
    assert_eq!(page.total.cost.usd(), Some(3.0));
    assert_eq!(page.total.cost.unpriced, 500);
    assert_eq!(page.unpriced_models, ["other"]);
}

#[test]
fn usage_043_a_price_holds_from_its_first_day() {
    let text = format!(
        "{THREE_AND_FIFTEEN}[[price]]\nmodel = \"model-a\"\nfrom = \"2026-11-01\"\ninput = 6.0\noutput = 30.0\n"
    );
    let prices = prices(&text);
    let world = World::new();
    let hook = Hook::new(&world);
    let row = |key: &str, at: &str| json!({"key": key, "at": at, "model": "model-a", "input_tokens": 1_000_000});
    hook.posts(vec![
        row("m1", "2026-10-31T23:59:59.999Z"),
        row("m2", "2026-11-01T00:00:00.000Z"),
    ]);
    let page = page(&world, &prices, Some(Unit::Day));
    let costs: Vec<_> = page
        .lines
        .iter()
        .map(|line| line.figures.cost.usd())
        .collect();
    assert_eq!(costs, [Some(3.0), Some(6.0)]);
}

#[test]
fn without_prices_there_are_tokens_only() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.posts(vec![hook.row("m1", 5)]);
    let page = page(&world, &Prices::off(), None);
    assert_eq!(page.total.cost.usd(), None);
    assert_eq!(page.total.tokens.output, 5);
    assert_eq!(Prices::off().as_of(), None);
}
