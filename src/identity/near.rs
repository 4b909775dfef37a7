//! Which names a misspelt one may have meant (tools.md 6, send; cli.md 1). Pure.

/// Most names offered.
const MOST: usize = 3;

/// At most three of the names within edit distance 2 or sharing the first three letters, the nearest first.
#[must_use]
pub fn near<'a>(name: &str, names: &[&'a str]) -> Vec<&'a str> {
    let typed: Vec<char> = name.chars().take(64).collect();
    let mut ranked: Vec<(usize, &str)> = names
        .iter()
        .filter(|known| **known != name)
        .map(|known| (distance(&typed, known), *known))
        .filter(|(distance, known)| is_near(*distance, &typed, known) || same_start(&typed, known))
        .collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(MOST)
        .map(|(_, known)| known)
        .collect()
}

/// Two changes turn any name of two letters into any other, so a distance counts only where a letter was left as it was.
fn is_near(distance: usize, typed: &[char], known: &str) -> bool {
    distance <= 2 && distance < typed.len().min(known.chars().count())
}

fn same_start(typed: &[char], known: &str) -> bool {
    typed.len() >= 3
        && known.chars().count() >= 3
        && known.chars().take(3).eq(typed[..3].iter().copied())
}

/// Edit distance: letters put in, left out or changed.
fn distance(typed: &[char], known: &str) -> usize {
    let mut row: Vec<usize> = (0..=typed.len()).collect();
    for (i, k) in known.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, t) in typed.iter().enumerate() {
            let changed = diagonal + usize::from(k != *t);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[typed.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance_of(a: &str, b: &str) -> usize {
        distance(&a.chars().collect::<Vec<_>>(), b)
    }

    #[test]
    fn tools_035_a_misspelt_name_finds_its_neighbours() {
        assert_eq!(near("wbe", &["api", "db", "web"]), ["web"]);
        assert_eq!(
            near("frontend2", &["front", "frontend", "backend"]),
            ["frontend", "front"]
        );
        assert_eq!(near("zzzz", &["api", "web"]), [""; 0]);
        assert_eq!(
            near("weba", &["web1", "web2", "web3", "web"]),
            ["web", "web1", "web2"]
        );
    }

    proptest::proptest! {
        #[test]
        fn distance_is_one(a in "[a-c]{0,6}", b in "[a-c]{0,6}", c in "[a-c]{0,6}") {
            proptest::prop_assert_eq!(distance_of(&a, &a), 0);
            proptest::prop_assert_eq!(distance_of(&a, &b), distance_of(&b, &a));
            proptest::prop_assert!(distance_of(&a, &c) <= distance_of(&a, &b) + distance_of(&b, &c));
        }
    }
}
