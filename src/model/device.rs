//! What somebody signs in with: a browser and a system, as far as their words are known. Nothing else of what the
//! browser says of itself is kept: neither its version nor the machine.

use std::fmt;
use std::str::FromStr;

/// What stands between the two when it is written.
const BETWEEN: char = '/';
/// What stands for a part that is not known.
const UNKNOWN: &str = "-";

/// Makes an enum of words, each with its name and with what a `User-Agent` has in it; the first that is found is it.
macro_rules! told_by {
    ($(#[$about:meta])* $type:ident { $($choice:ident: $word:literal, $name:literal, [$($mark:literal),+];)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum $type {
            $($choice,)+
        }

        impl $type {
            const ALL: &'static [Self] = &[$(Self::$choice),+];

            /// As it is written.
            fn word(self) -> &'static str {
                match self {
                    $(Self::$choice => $word,)+
                }
            }

            /// As its makers call it, in all languages.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$choice => $name,)+
                }
            }

            fn marks(self) -> &'static [&'static str] {
                match self {
                    $(Self::$choice => &[$($mark),+],)+
                }
            }

            fn of(user_agent: &str) -> Option<Self> {
                let is_told = |mark: &&str| user_agent.contains(*mark);
                Self::ALL.iter().copied().find(|choice| choice.marks().iter().any(is_told))
            }

            fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.word() == word)
            }
        }
    };
}

told_by! {
    /// A browser. Those that are built on another one say its name too, and come before it.
    Browser {
        Edge: "edge", "Edge", ["Edg/", "EdgA/", "EdgiOS/"];
        Opera: "opera", "Opera", ["OPR/", "Opera/"];
        Samsung: "samsung", "Samsung Internet", ["SamsungBrowser/"];
        Firefox: "firefox", "Firefox", ["Firefox/", "FxiOS/"];
        Chrome: "chrome", "Chrome", ["Chrome/", "CriOS/", "Chromium/"];
        Safari: "safari", "Safari", ["Safari/"];
    }
}

told_by! {
    /// A system. Android says that it is a Linux, and phones of Apple that they are like a Mac.
    System {
        Android: "android", "Android", ["Android"];
        Iphone: "iphone", "iPhone", ["iPhone"];
        Ipad: "ipad", "iPad", ["iPad"];
        Windows: "windows", "Windows", ["Windows"];
        Chromebook: "chromebook", "ChromeOS", ["CrOS"];
        Mac: "mac", "macOS", ["Macintosh", "Mac OS X"];
        Linux: "linux", "Linux", ["Linux", "X11"];
    }
}

/// A browser on a system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Device {
    pub(crate) browser: Option<Browser>,
    pub(crate) system: Option<System>,
}

impl Device {
    /// By what a browser says of itself.
    pub(crate) fn of(user_agent: &str) -> Self {
        Self { browser: Browser::of(user_agent), system: System::of(user_agent) }
    }
}

/// Such as `firefox/linux`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let browser = self.browser.map_or(UNKNOWN, Browser::word);
        let system = self.system.map_or(UNKNOWN, System::word);
        write!(f, "{browser}{BETWEEN}{system}")
    }
}

impl FromStr for Device {
    type Err = NoDevice;

    /// What a later version may know and this one does not is not known.
    fn from_str(text: &str) -> Result<Self, NoDevice> {
        let (browser, system) = text.split_once(BETWEEN).ok_or(NoDevice)?;
        Ok(Self { browser: Browser::from_word(browser), system: System::from_word(system) })
    }
}

/// It is not written as a browser and a system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a device is a browser and a system, such as `firefox/linux`")]
pub struct NoDevice;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(user_agent: &str, expected: &str) {
        let device = Device::of(user_agent);
        assert_eq!(device.to_string(), expected, "{user_agent}");
        assert_eq!(expected.parse(), Ok(device), "read back");
    }

    #[test]
    fn browsers_and_systems_are_told_by_what_they_say() {
        const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
        check("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "firefox/linux");
        let windows =
            format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/138.0.0.0 Safari/537.36");
        check(&windows, "chrome/windows");
        check(&format!("{windows} Edg/138.0.0.0"), "edge/windows");
        check(&format!("{windows} OPR/120.0.0.0"), "opera/windows");
        let phone = "Mozilla/5.0 (Linux; Android 10; K)";
        check(&format!("{phone} {WEBKIT} Chrome/138.0.0.0 Mobile Safari/537.36"), "chrome/android");
        check(
            &format!("{phone} {WEBKIT} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36"),
            "samsung/android",
        );
        let apple = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
        let mac =
            format!("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {apple} Version/18.5 Safari/605.1.15");
        check(&mac, "safari/mac");
        let iphone = format!("Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) {apple}");
        check(&format!("{iphone} Version/18.5 Mobile/15E148 Safari/604.1"), "safari/iphone");
        check(&format!("{iphone} FxiOS/140.0 Mobile/15E148 Safari/605.1.15"), "firefox/iphone");
    }

    #[test]
    fn what_is_not_known_is_not_kept() {
        check("", "-/-");
        check("curl/8.5.0", "-/-");
        check("<script>alert(1)</script> on Windows", "-/windows");
        check(&"Firefox/".repeat(10_000), "firefox/-");
        assert_eq!("netscape/amiga".parse(), Ok(Device::default()));
        assert_eq!("firefox".parse::<Device>(), Err(NoDevice));
    }
}
