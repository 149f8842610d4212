//! `--storage-url`, as commands have it that read or write what is stored.

/// The name of the variable that says the same.
const VARIABLE: &str = "FOURFOLD_STORAGE_URL";

#[derive(Clone, Debug, clap::Args)]
pub(in crate::app) struct StorageUrl {
    /// The PostgreSQL database, if not a file but a server keeps everything.
    #[arg(
        id = "storage_url",
        long = "storage-url",
        value_name = "URL",
        env = VARIABLE,
        hide_env_values = true,
        default_value = ""
    )]
    text: String,
}

impl StorageUrl {
    /// That of the environment.
    pub(in crate::app) fn of_environment() -> Self {
        Self { text: std::env::var(VARIABLE).unwrap_or_default() }
    }

    /// `None` for a file; an empty one is none, so that a variable can be switched off.
    pub(in crate::app) fn get(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|url| !url.is_empty())
    }
}
