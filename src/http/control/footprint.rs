//! How much memory and disk the daemon takes.

use std::fs;
use std::path::Path;

/// Resident memory of this process; not known on every system.
pub(in crate::http) fn memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    resident(&status)
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// The files of a data directory, without those of folders in it.
pub(in crate::http) fn data_bytes(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let files = entries.filter_map(|entry| entry.ok()?.metadata().ok()).filter(fs::Metadata::is_file);
    files.map(|file| file.len()).sum()
}

/// Room on the disk under a directory for whoever is not the system's administrator.
pub(in crate::http) fn disk_free_bytes(directory: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_from_the_systems_lines() {
        assert_eq!(resident("Name:\tfourfold\nVmRSS:\t    2048 kB\nThreads:\t4\n"), Some(2 << 20));
        assert_eq!(resident("Name:\tfourfold\n"), None);
        assert_eq!(resident("VmRSS:\t many kB\n"), None);
    }

    #[test]
    fn files_of_a_directory_are_summed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), [0; 100]).unwrap();
        fs::write(folder.path().join("b"), [0; 23]).unwrap();
        fs::create_dir(folder.path().join("c")).unwrap();
        assert_eq!(data_bytes(folder.path()), 123);
        assert_eq!(data_bytes(&folder.path().join("nowhere")), 0);
        assert!(disk_free_bytes(folder.path()).is_some());
    }
}
