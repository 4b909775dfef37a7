//! The admin token's file (access.md 2): `<database>.admin`, mode 0600. Whoever can read it is the person.

use std::path::Path;

use crate::config;
use crate::identity::access;
use crate::identity::people;
use crate::identity::token;
use crate::store::Fault;
use crate::store::Outcome;
use crate::store::Store;
use crate::store::Time;

/// Makes sure the file holds a live admin token that only the person can read. If a new one had to be made, the old one is dead and
/// the answer says why.
///
/// # Errors
/// A fault of the store, or of the file system when the new file cannot be written.
pub async fn prepare(store: &Store, now: Time) -> Outcome<Option<String>> {
    let path = config::admin_token_file(store.path());
    let why = match usable(store, &path, now).await? {
        Ok(()) => return Ok(None),
        Err(why) => why,
    };
    let secret = store
        .write(move |tx| {
            let owner = people::first_owner(tx)?;
            token::replace_admin(tx, owner.seq, now)
        })
        .await?;
    config::write_secret(&path, &secret).map_err(Fault::Io)?;
    Ok(Some(why))
}

/// Whether the file can be kept, or why not.
async fn usable(store: &Store, path: &Path, now: Time) -> Outcome<Result<(), String>> {
    if !path.exists() {
        return Ok(Err(format!("{} did not exist", path.display())));
    }
    let secret = match config::read_secret(path) {
        Ok(secret) => secret,
        Err(why) => return Ok(Err(why)),
    };
    let header = format!("Bearer {secret}");
    let known = store
        .read(move |connection| access::admin(connection, Some(header.as_bytes()), now))
        .await?;
    Ok(known
        .map(|_| ())
        .map_err(|_| format!("{} held no live admin token", path.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::identity;

    async fn live(store: &Store, secret: &str) -> bool {
        let header = format!("Bearer {secret}");
        let known = store
            .read(move |connection| access::admin(connection, Some(header.as_bytes()), Time(2)))
            .await;
        known.unwrap().is_ok()
    }

    #[tokio::test]
    async fn access_002_a_file_others_can_read_is_replaced_and_its_token_dies() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("r.db"), "", Time(1)).unwrap();
        store
            .write(|tx| identity::found(tx, "kim", Time(1)))
            .await
            .unwrap();
        let path = config::admin_token_file(store.path());

        assert!(prepare(&store, Time(1)).await.unwrap().is_some());
        let first = config::read_secret(&path).unwrap();
        assert_eq!(prepare(&store, Time(2)).await.unwrap(), None);
        assert_eq!(config::read_secret(&path).unwrap(), first);

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let why = prepare(&store, Time(2)).await.unwrap().unwrap();
        assert!(why.contains("readable by others"), "{why}");
        let second = config::read_secret(&path).unwrap();
        assert!(!live(&store, &first).await);
        assert!(live(&store, &second).await);

        std::fs::write(&path, "rra_of_another_file\n").unwrap();
        assert!(prepare(&store, Time(2)).await.unwrap().is_some());
        assert!(!live(&store, &second).await);
    }
}
