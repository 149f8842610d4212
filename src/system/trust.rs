//! Whom to believe when another machine says over TLS who it is.
//!
//! That is the system's business: its certificates are read once, or those of the file that `SSL_CERT_FILE` names (or
//! the folder `SSL_CERT_DIR`), as other programs do it. That is how a server with a certificate of its own is reached.

use std::sync::{Arc, OnceLock};

use rustls_native_certs::CertificateResult;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Reads the system's certificates at the first use: a few hundred files on some machines.
///
/// # Errors
///
/// There are none.
pub(crate) fn of_the_system() -> Result<Arc<ClientConfig>, String> {
    static TRUST: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    TRUST.get_or_init(|| trust_in(rustls_native_certs::load_native_certs())).clone()
}

/// Believes those for whom one of these certificates vouches.
///
/// # Errors
///
/// There are none.
pub(crate) fn trust_in(found: CertificateResult) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    // Systems ship certificates that no library reads; whoever needs one of them is told so by the handshake.
    let _ = roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map_or_else(String::new, |error| format!(" ({error})"));
        return Err(format!(
            "no certificates of authorities were found{why}; SSL_CERT_FILE names a file with them"
        ));
    }
    Ok(Arc::new(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_certificates_says_so() {
        let words = trust_in(CertificateResult::default()).unwrap_err();
        assert!(words.contains("SSL_CERT_FILE"), "{words}");
    }
}
