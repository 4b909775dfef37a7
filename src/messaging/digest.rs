//! SHA-256 over the fields of a call, each with its length, so that no two different calls read alike.

use sha2::Digest as _;
use sha2::Sha256;

/// Collects fields.
#[derive(Default)]
pub(super) struct Digest(Sha256);

impl Digest {
    pub(super) fn text(mut self, text: &str) -> Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    pub(super) fn texts<'a>(self, texts: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let counted = self.number(texts.len() as i64);
        texts.fold(counted, Self::text)
    }

    pub(super) fn flags<const N: usize>(self, flags: [bool; N]) -> Self {
        flags
            .into_iter()
            .fold(self, |digest, flag| digest.number(flag.into()))
    }

    pub(super) fn number(mut self, number: i64) -> Self {
        self.0.update(number.to_le_bytes());
        self
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0.finalize().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let of = |texts: &[&str]| Digest::default().texts(texts.iter().copied()).finish();
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
    }
}
