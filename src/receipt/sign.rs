//! Signatures of receipts, as minisign makes and reads them: a file beside the receipt.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use ct_codecs::{Base64, Decoder};
use minisign::{PublicKey, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBox};

use crate::files::read;
use crate::model::text::shown;

/// The environment variable with the password of a key.
const PASSWORD: &str = crate::model::secret::KEY_PASSWORD;

/// The word for the key that signs.
const SECRET: &str = "secret key";

/// The word for the key that signatures are compared with.
const PUBLIC: &str = "public key";

/// An error in signing, or in reading a signature.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignError {
    /// A file cannot be read.
    #[error("cannot read the {what} {}: {source}{}", shown(path), origin(what))]
    Read {
        /// `secret key`, `public key`, `signature`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is of another form.
    #[error("{} is no {what} of minisign: {said}{}", shown(path), remedy(what))]
    Wrong {
        /// As above.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        said: String,
    },
    /// The key is locked.
    #[error("the key {} has a password; put it into the environment as {PASSWORD}", shown(path))]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The password is another.
    #[error("{PASSWORD} is not the password of the key {}", shown(path))]
    Password {
        /// The file.
        path: PathBuf,
    },
    /// The signature is not of that key, or not of that receipt.
    #[error("the signature does not hold: {0}")]
    Broken(String),
}

/// The next step where a file is no such thing.
fn remedy(what: &str) -> &'static str {
    if what == SECRET { "; `minisign -G` makes a pair of keys" } else { "" }
}

/// The next step where a file cannot be read.
fn origin(what: &str) -> &'static str {
    match what {
        SECRET => "; name the file with the secret key that `minisign -G` made",
        PUBLIC => {
            "; name the file with the public key that `minisign -G` made, or give the key itself"
        }
        _ => "; `gate4k check --receipt FILE --sign-key KEY` writes it beside the receipt",
    }
}

fn text(what: &'static str, path: &Path) -> Result<String, SignError> {
    read::text(path, read::SETTINGS).map_err(|source| SignError::Read {
        what,
        path: path.to_owned(),
        source,
    })
}

fn wrong(what: &'static str, path: &Path) -> impl FnOnce(minisign::PError) -> SignError {
    move |error| SignError::Wrong { what, path: path.to_owned(), said: error.to_string() }
}

/// The file beside a receipt.
pub(crate) fn beside(receipt: &Path) -> PathBuf {
    receipt.with_added_extension("minisig")
}

/// A key that has no password, as `minisign -G -W` writes it: without the sum that guards a locked one, which the crate
/// takes for damage. A signature that its own public part takes shows that it is whole.
fn open_without_sum(text: &str) -> Option<SecretKey> {
    // The form of the file: minisign(1), "Secret key format".
    const LENGTH: usize = 158;
    let bytes = Base64::decode_to_vec(text.lines().nth(1)?.trim(), None).ok()?;
    let lock = bytes.get(2..4)?;
    let sum = bytes.get(LENGTH - 32..LENGTH)?;
    if bytes.len() != LENGTH || [lock, sum].concat().iter().any(|byte| *byte != 0) {
        return None;
    }
    let key = SecretKey::from_bytes(&bytes).ok()?;
    let public = PublicKey::from_secret_key(&key).ok()?;
    let signed = minisign::sign(None, &key, Cursor::new(""), None, None).ok()?;
    minisign::verify(&public, &signed, Cursor::new(""), true, false, false).ok()?;
    Some(key)
}

/// A key that signs.
pub(crate) struct Signer(SecretKey);

impl Signer {
    /// Reads a key, and its password from [`PASSWORD`].
    ///
    /// # Errors
    /// When there is no key, or it stays locked.
    pub(crate) fn load(path: &Path) -> Result<Signer, SignError> {
        Signer::unlock(path, std::env::var(PASSWORD).ok())
    }

    fn unlock(path: &Path, password: Option<String>) -> Result<Signer, SignError> {
        let what = SECRET;
        let text = text(what, path)?;
        let parse = || SecretKeyBox::from_string(&text).map_err(wrong(what, path));
        if let Some(key) = open_without_sum(&text) {
            return Ok(Signer(key));
        }
        let key = match parse()?.into_unencrypted_secret_key() {
            Ok(key) => key,
            // A file with this error is a key, only not an open one.
            Err(error) if error.to_string().contains("encrypted") => {
                let password =
                    password.ok_or_else(|| SignError::Locked { path: path.to_owned() })?;
                parse()?.into_secret_key(Some(password)).map_err(|error| {
                    if error.to_string().contains("password") {
                        SignError::Password { path: path.to_owned() }
                    } else {
                        wrong(what, path)(error)
                    }
                })?
            }
            Err(error) => return Err(wrong(what, path)(error)),
        };
        Ok(Signer(key))
    }

    /// The text of a signature.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn sign(&self, receipt: &str) -> Result<String, SignError> {
        let comment = "receipt of gate4k";
        let signed = minisign::sign(None, &self.0, Cursor::new(receipt), Some(comment), None);
        signed.map(SignatureBox::into_string).map_err(|e| SignError::Broken(e.to_string()))
    }
}

/// True if the signature beside `path` is that of `key` (a file, or the key itself as minisign prints it).
///
/// # Errors
/// When it is not, or there is none.
pub(crate) fn verify(path: &Path, receipt: &str, key: &str) -> Result<(), SignError> {
    let what = PUBLIC;
    let key = match PublicKey::from_base64(key) {
        Ok(key) => key,
        Err(_) => {
            let file = Path::new(key);
            PublicKeyBox::from_string(&text(what, file)?)
                .and_then(PublicKeyBox::into_public_key)
                .map_err(wrong(what, file))?
        }
    };
    let beside = beside(path);
    let signature = SignatureBox::from_string(&text("signature", &beside)?)
        .map_err(wrong("signature", &beside))?;
    minisign::verify(&key, &signature, Cursor::new(receipt), true, false, false)
        .map_err(|error| SignError::Broken(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ct_codecs::Encoder;
    use minisign::KeyPair;
    use std::fs;

    fn keys(password: Option<&str>) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (secret, public) = (folder.path().join("key"), folder.path().join("key.pub"));
        let pair = match password {
            Some(word) => KeyPair::generate_encrypted_keypair(Some(word.into())).unwrap(),
            None => KeyPair::generate_unencrypted_keypair().unwrap(),
        };
        fs::write(&secret, pair.sk.to_box(None).unwrap().into_string()).unwrap();
        fs::write(&public, pair.pk.to_box().unwrap().into_string()).unwrap();
        (folder, secret, public)
    }

    #[test]
    fn a_signature_holds_for_its_key_and_its_text_only() {
        let (folder, secret, public) = keys(None);
        let receipt = folder.path().join("r.json");
        let signed = Signer::unlock(&secret, None).unwrap().sign("text").unwrap();
        let public = public.to_str().unwrap();
        let missing = verify(&receipt, "text", public).unwrap_err();
        assert!(matches!(missing, SignError::Read { what: "signature", .. }), "{missing}");
        fs::write(beside(&receipt), signed).unwrap();
        verify(&receipt, "text", public).unwrap();
        // The key itself, as it is published.
        let line = fs::read_to_string(public).unwrap().lines().nth(1).unwrap().to_owned();
        verify(&receipt, "text", &line).unwrap();
        assert!(matches!(verify(&receipt, "text ", public), Err(SignError::Broken(_))));
        let (_other, _, stranger) = keys(None);
        let wrong = verify(&receipt, "text", stranger.to_str().unwrap());
        assert!(matches!(wrong, Err(SignError::Broken(_))));
    }

    #[test]
    fn an_open_key_of_minisign_has_no_sum_and_is_taken_if_it_is_whole() {
        let (folder, secret, public) = keys(None);
        let text = fs::read_to_string(&secret).unwrap();
        let whole = Base64::decode_to_vec(text.lines().nth(1).unwrap(), None).unwrap();
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = whole.clone();
            bytes[126..].fill(0);
            change(&mut bytes);
            let line = Base64::encode_to_string(bytes).unwrap();
            fs::write(&secret, format!("untrusted comment: x\n{line}\n")).unwrap();
            Signer::unlock(&secret, None)
        };
        let receipt = folder.path().join("r.json");
        fs::write(beside(&receipt), with(&|_| {}).unwrap().sign("text").unwrap()).unwrap();
        verify(&receipt, "text", public.to_str().unwrap()).unwrap();
        // A bit of the secret part.
        assert!(matches!(with(&|bytes| bytes[70] ^= 1), Err(SignError::Wrong { .. })));
    }

    #[test]
    fn a_locked_key_wants_its_password() {
        let (_folder, secret, _) = keys(Some("a word"));
        assert!(matches!(Signer::unlock(&secret, None), Err(SignError::Locked { .. })));
        let other = Signer::unlock(&secret, Some("another".into())).err().unwrap();
        assert!(
            other.to_string().starts_with("GATE4K_KEY_PASSWORD is not the password"),
            "{other}"
        );
        assert!(Signer::unlock(&secret, Some("a word".into())).is_ok());
    }

    #[test]
    fn what_is_no_key_is_told() {
        let (folder, _, public) = keys(None);
        let file = folder.path().join("x");
        assert!(matches!(Signer::unlock(&file, None), Err(SignError::Read { .. })));
        fs::write(&file, "x").unwrap();
        assert!(matches!(Signer::unlock(&file, None), Err(SignError::Wrong { .. })));
        assert!(Signer::unlock(&public, Some("x".into())).is_err());
    }
}
