//! The pages as a browser without script gets them.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};

use crate::http::site::{Papers, Site};
use crate::http::state::OpenBot;
use crate::http::testing::{SOMEWHERE, TestArena, TestSite};
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};

use crate::protocol::terms::WirePlayer;
use crate::storage::conformance::{FIRST_WINS, add_players, play, spec};

/// A site on which Ada has beaten Bob, and a remote bot is connected that says this about itself.
async fn site(about: &str) -> TestSite {
    let bot = OpenBot {
        player: WirePlayer {
            id: "bot".parse().unwrap(),
            name: "hal".parse().unwrap(),
            kind: PlayerKind::Bot,
            rating: None,
            version: None,
        },
        strength: None,
        level: None,
        elo: None,
        style: None,
        about: Some(about.to_owned()),
        url: Some("https://example.org/hal".to_owned()),
        language: None,
        house: false,
        playing: 1,
        trouble: None,
    };
    let site = TestSite::with(Site::default(), TestArena { bots: vec![bot], ..TestArena::default() });
    add_players(&*site.store, &["Ada", "Bob"]).await;
    play(&*site.store, spec("one", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    site
}

/// All pages that can be reached there.
const PATHS: [&str; 40] = [
    "/studies",
    "/study/new",
    "/friends",
    "/invite",
    "/invite?to=ada",
    "/teach",
    "/correspondence",
    "/class",
    "/class/ABCDEF",
    "/find",
    "/seasons",
    "/tournaments/new",
    "/bots/gallery",
    "/status",
    "/bots/editor",
    "/privacy",
    "/",
    "/rules",
    "/learn",
    "/learn/rules",
    "/learn/glossary",
    "/puzzles/rush",
    "/puzzles/rush/board",
    "/settings",
    "/game/one",
    "/tv",
    "/wall",
    "/embed/tv",
    "/embed/one",
    "/offline",
    "/leaderboard",
    "/leaderboard?list=people",
    "/leaderboard?list=nonsense",
    "/player/ada",
    "/bots",
    "/account",
    "/docs",
    "/docs/playing",
    "/analysis",
    "/analysis/4453",
];

#[tokio::test]
async fn the_form_of_an_invitation_offers_what_may_be_played_with_whoever_is_asked() {
    let site = site("plays").await;
    let page = site.get("/invite").await.body;
    assert!(page.contains("value=\"days\" disabled"), "guests have no games by days: {page}");
    assert!(page.contains("name=\"invite-rated\" disabled"), "and none that are rated");
    let asked = site.get("/invite?to=ada").await.body;
    assert!(asked.contains("data-to=\"Ada\"") && asked.contains("Challenge Ada"), "{asked}");
    let guest = site.get("/invite?to=guest-Bea").await.body;
    assert!(guest.contains("Bea plays as a guest"), "{guest}");
    assert!(!guest.contains("value=\"days\""), "with guests there are none by days at all");
    assert_eq!(site.get("/invite?to=nobody").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_list_of_bots_links_to_their_sources_on_the_web() {
    let page = site("plays").await.get("/bots").await.body;
    assert!(page.contains("href=\"https://example.org/hal\" rel=\"nofollow noopener ugc\""), "{page}");
    assert!(page.contains("aria-label=\"Source of hal\""), "{page}");
    for url in [None, Some("javascript:alert(1)"), Some("//example.org"), Some("")] {
        assert_eq!(super::bots::web_address(url), None, "{url:?}");
    }
}

#[tokio::test]
async fn pictures_of_documents_are_there() {
    let site = site("plays").await;
    let drawing = site.get("/docs/images/soak.svg").await;
    assert!(drawing.status == StatusCode::OK && drawing.body.starts_with("<svg"), "{}", drawing.body);
    assert_eq!(drawing.headers[header::CONTENT_TYPE], "image/svg+xml");
    for missing in ["none.svg", "soak", "soak.md", "..%2Fplaying.md"] {
        let status = site.get(&format!("/docs/images/{missing}")).await.status;
        assert_eq!(status, StatusCode::NOT_FOUND, "{missing}");
    }
}

#[tokio::test]
async fn the_operators_papers_are_there_once_they_are_written() {
    let site = site("plays").await;
    assert_eq!(site.get("/terms").await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/imprint").await.status, StatusCode::NOT_FOUND);
    let standard = site.get("/privacy").await.body;
    assert!(
        standard.contains("<h1 id=\"privacy\">Privacy</h1>") && !standard.contains("{contact}"),
        "{standard}"
    );
    let note = "<p class=\"notice\">Diesen Text gibt es nur auf Englisch.</p>";
    let request = Request::get("/privacy").header(header::ACCEPT_LANGUAGE, "de").body(Body::empty());
    let german = site.send(request.unwrap()).await.body;
    assert!(german.contains(note) && german.contains("<article class=\"prose\" lang=\"en\">"), "{german}");
    assert!(!standard.contains("class=\"notice\""), "those who read English need not be told");
    let papers = Papers { terms: "LICENSE-MIT".parse().unwrap(), ..Papers::default() };
    let contact = "arena@example.org".parse().unwrap();
    let site = TestSite::with(Site { contact, papers, ..Site::default() }, TestArena::default());
    let terms = site.get("/terms").await;
    assert!(terms.body.contains("Permission is hereby granted") && terms.body.contains("href=\"/terms\""));
    assert!(site.get("/privacy").await.body.contains("href=\"mailto:arena@example.org\""));
}

#[tokio::test]
async fn machines_find_what_they_look_for() {
    let site = TestSite::with(
        Site {
            public_url: Some("https://four.example".parse().unwrap()),
            contact: "https://four.example/contact".parse().unwrap(),
            ..Site::default()
        },
        TestArena::default(),
    );
    let robots = site.get("/robots.txt").await.body;
    assert!(
        robots.contains("Disallow: /account\n")
            && robots.contains("\nSitemap: https://four.example/sitemap.xml\n")
    );
    let map = site.get("/sitemap.xml").await.body;
    let paths: Vec<&str> =
        map.split("<loc>https://four.example").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    assert!(paths.len() > 10, "{map}");
    for path in paths {
        let status = site.get(path).await.status;
        assert!(status.is_success() || status.is_redirection(), "{path}: {status}");
    }
    let security = site.get("/.well-known/security.txt").await.body;
    let expires = security.split_once("Expires: ").and_then(|(_, rest)| rest.split('\n').next()).unwrap();
    assert!(
        security.starts_with("Contact: https://four.example/contact\n")
            && expires.ends_with("T00:00:00.000Z")
    );
    assert_eq!(TestSite::new().get("/.well-known/security.txt").await.status, StatusCode::NOT_FOUND);
    let icon = site.open(SOMEWHERE, Request::get("/favicon.ico").body(Body::empty()).unwrap()).await;
    assert_eq!(icon.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_link_to_a_game_shows_its_board() {
    let site = site("plays").await;
    let page = site.get("/game/one").await.body;
    assert!(
        page.contains("<meta property=\"og:image\" content=\"") && page.contains("/api/v1/games/one.png\">")
    );
    let picture = Request::get("/api/v1/games/one.png").body(Body::empty()).unwrap();
    let picture = site.open(SOMEWHERE, picture).await;
    assert_eq!(picture.headers()[header::CONTENT_TYPE], "image/png");
    assert_eq!(site.get("/api/v1/games/none.png").await.status, StatusCode::NOT_FOUND);
    let moving = Request::get("/api/v1/games/one.gif").body(Body::empty()).unwrap();
    let moving = site.open(SOMEWHERE, moving).await;
    assert_eq!(moving.headers()[header::CONTENT_TYPE], "image/gif");
    assert_eq!(site.get("/api/v1/games/none.gif").await.status, StatusCode::NOT_FOUND);
}

/// The colours and the board that a frame asks for stand in the page from the start.
#[tokio::test]
async fn a_frame_looks_as_the_page_around_it_asks() {
    let site = site("plays").await;
    let page = site.get("/embed/one?theme=dark&theme=walnut").await.body;
    assert!(page.contains("data-theme=\"dark\" data-board=\"walnut\" data-fixed"), "{page}");
    let page = site.get("/embed/one?theme=pink").await.body;
    assert!(!page.contains("data-theme") && !page.contains("data-board"), "{page}");
}

#[tokio::test]
async fn every_page_is_there_for_everybody() {
    let site = site("plays").await;
    for path in PATHS {
        let answer = site.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(answer.body.starts_with("<!doctype html>"), "{path}");
    }
}

#[tokio::test]
async fn five_parts_are_named_everywhere_and_their_pages_where_one_is_in_them() {
    let site = site("plays").await;
    let nav = |body: &str, class: &str| -> Vec<String> {
        let Some((_, nav)) = body.split_once(&format!("<nav class=\"{class}\"")) else { return Vec::new() };
        let links = nav.split_once("</nav>").unwrap().0.split("<a href=\"").skip(1);
        let marked = |link: &str| {
            let url = link.split('"').next().unwrap();
            if link.contains("aria-current=") { format!("[{url}]") } else { url.to_owned() }
        };
        links.map(marked).collect()
    };
    for (path, tabs, subtabs) in [
        ("/", "[/] /puzzles /learn /tv /bots", ""),
        (
            "/leaderboard",
            "/ /puzzles /learn /tv [/bots]",
            "/bots [/leaderboard] /tournaments /learning /docs",
        ),
        (
            "/analysis",
            "/ /puzzles [/learn] /tv /bots",
            "/learn /rules [/analysis] /studies /learn/glossary /class",
        ),
        ("/game/one", "/ /puzzles /learn /tv /bots", ""),
    ] {
        let body = site.get(path).await.body;
        assert_eq!(nav(&body, "tabs").join(" "), tabs, "{path}");
        assert_eq!(nav(&body, "subtabs").join(" "), subtabs, "{path}");
    }
}

#[tokio::test]
async fn an_empty_site_has_its_pages_too() {
    let site = TestSite::new();
    for path in ["/", "/tv", "/leaderboard", "/bots", "/account", "/docs"] {
        assert_eq!(site.get(path).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_page_that_says_so() {
    let site = site("plays").await;
    for path in [
        "/game/unknown",
        "/game/not-an-id",
        "/player/nobody",
        "/player/x",
        "/challenge/gone",
        "/docs/..",
        "/learn/nothing",
        "/x",
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer.body.contains("Nothing here"), "{path}");
    }
}

#[tokio::test]
async fn pages_keep_to_their_policy() {
    let site = site("plays").await;
    for path in PATHS {
        let body = site.get(path).await.body;
        for forbidden in [" style=", "<style", " onclick=", "javascript:", "<script>"] {
            assert!(!body.contains(forbidden), "{path} has {forbidden}");
        }
        for script in body.split("<script ").skip(1) {
            assert!(script.starts_with("type=\"module\" src=\"/static/v-"), "{path}: {script:.60}");
        }
    }
}

#[tokio::test]
async fn what_others_write_stays_text() {
    let site = site("<img src=x onerror=alert(1)> & \"more\"").await;
    let body = site.get("/bots").await.body;
    assert!(!body.contains("<img src=x"), "{body}");
    assert!(body.contains("&#60;img src=x"), "{body}");
}

#[tokio::test]
async fn a_finished_game_reads_without_script() {
    let site = site("plays").await;
    let body = site.get("/game/one").await.body;
    assert!(body.contains("Ada wins"), "{body}");
    assert!(body.contains("Four in a row."), "{body}");
    assert_eq!(body.matches("stone first in-line").count(), 4, "the winning stones are marked");
    assert!(body.contains("aria-label=\"Move 1, Coral: column"), "{body}");
}

#[tokio::test]
async fn whoever_is_new_finds_the_rules_under_the_name_that_the_game_has_at_home() {
    let site = site("plays").await;
    for path in ["/", "/bots", "/game/one"] {
        assert!(site.get(path).await.body.contains("href=\"/rules\""), "{path}");
    }
    let lead = site.get("/").await.body;
    assert_eq!(lead.matches("href=\"/rules\"").count(), 2, "in the lead and in the footer");
    for (language, name) in [
        ("en", "Connect Four"),
        ("de", "Vier gewinnt"),
        ("fr", "Puissance 4"),
        ("es", "Conecta 4"),
        ("pt", "Lig 4"),
        ("it", "Forza 4"),
        ("nl", "Vier op een rij"),
        ("pl", "Connect 4"),
        ("ja", "コネクトフォー"),
        ("zh", "四子棋"),
    ] {
        assert!(site.get(&format!("/rules?lang={language}")).await.body.contains(name), "{language}");
    }
}

#[tokio::test]
async fn a_link_that_is_pasted_elsewhere_has_words_and_a_picture() {
    let public_url = Some("https://play.example".parse().unwrap());
    let site = TestSite::with(Site { public_url, ..Site::default() }, TestArena::default());
    add_players(&*site.store, &["Ada", "Bob"]).await;
    play(&*site.store, spec("one", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    let body = site.get("/game/one").await.body;
    assert!(body.contains("<meta property=\"og:title\" content=\"Ada – Bob\">"), "{body:.2000}");
    let described = "<meta property=\"og:description\" content=\"Ada wins · Four in a row.\">";
    assert!(body.contains(described), "{body:.2000}");
    let picture = "<meta property=\"og:image\" content=\"https://play.example/api/v1/games/one.png\">";
    assert!(body.contains(picture), "whole addresses alone are followed: {body:.2000}");
    let body = site.get("/rules").await.body;
    let picture = "<meta property=\"og:image\" content=\"https://play.example/static/v-";
    assert!(body.contains(picture), "{body:.2000}");
}

#[test]
fn pictures_for_other_programs_are_as_large_as_is_said() {
    // A PNG says its width and height after its signature and the name of its first part.
    let size = |png: &[u8]| {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
    };
    let preview = include_bytes!("../../../web/static/preview.png");
    assert_eq!(size(preview), [1_200, 630], "layout.html says so");
    assert_eq!(size(include_bytes!("../../../web/static/icon-180.png")), [180, 180]);
    let manifest = include_str!("../../../web/static/manifest.webmanifest");
    for (side, icon) in [
        (192, include_bytes!("../../../web/static/icon-192.png").as_slice()),
        (512, include_bytes!("../../../web/static/icon-512.png").as_slice()),
    ] {
        assert_eq!(size(icon), [side, side]);
        let entry = format!("\"icon-{side}.png\", \"sizes\": \"{side}x{side}\"");
        assert!(manifest.contains(&entry), "{entry}");
    }
}

#[tokio::test]
async fn two_who_play_quickly_do_not_fill_the_lobby() {
    let site = TestSite::new();
    add_players(&*site.store, &["Ada", "Bob", "Cleo"]).await;
    play(&*site.store, spec("other", "Cleo", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    for number in 0..12 {
        let (first, second) = if number % 2 == 0 { ("Ada", "Bob") } else { ("Bob", "Ada") };
        let game = spec(&format!("quick{number}"), first, second);
        play(&*site.store, game, FIRST_WINS, GameResult::First, EndReason::Four).await;
    }
    let body = site.get("/").await.body;
    let at = |game: &str| body.find(&format!("href=\"/game/{game}\""));
    assert!(at("quick11").is_some(), "the newest is there");
    assert!(at("other").is_some_and(|other| at("quick10").is_none_or(|next| other < next)), "{body}");
}

#[tokio::test]
async fn the_ranking_lists_only_the_wanted() {
    let site = site("plays").await;
    site.fit().await;
    assert!(site.get("/leaderboard?list=people").await.body.contains("/player/Ada"));
    assert!(!site.get("/leaderboard?list=bots").await.body.contains("/player/Ada"));
}

#[tokio::test]
async fn the_chosen_colours_are_in_the_page() {
    let site = TestSite::new();
    for (cookie, expected) in [
        ("theme=dark", "<html lang=\"en\" data-theme=\"dark\">"),
        ("a=b; theme=light", "<html lang=\"en\" data-theme=\"light\">"),
        ("theme=\"><script>", "<html lang=\"en\">"),
    ] {
        let request = Request::get("/").header(header::COOKIE, cookie).body(Body::empty()).unwrap();
        assert!(site.send(request).await.body.contains(expected), "{cookie}");
    }
}

/// The front page as a browser with these headers gets it.
async fn lobby_with(path: &str, headers: &[(header::HeaderName, &str)]) -> crate::http::testing::Answer {
    let request =
        headers.iter().fold(Request::get(path), |request, (name, value)| request.header(name, *value));
    TestSite::new().send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn pages_speak_the_language_that_the_browser_likes() {
    let body = lobby_with("/", &[(header::ACCEPT_LANGUAGE, "pl-PL,pl;q=0.9,en;q=0.7")]).await.body;
    assert!(body.contains("<html lang=\"pl\">") && body.contains("Zagraj z człowiekiem"), "{body}");
    assert!(body.contains("/texts/pl.js\""), "{body}");
}

#[tokio::test]
async fn a_chosen_language_wins_and_is_kept() {
    let polish = (header::ACCEPT_LANGUAGE, "pl");
    let answer = lobby_with("/leaderboard?list=bots&lang=ja", std::slice::from_ref(&polish)).await;
    assert!(answer.body.contains("<html lang=\"ja\">"), "{}", answer.body);
    assert!(answer.body.contains("href=\"/leaderboard?list=bots&#38;lang=de\""), "{}", answer.body);
    let cookies = answer.headers.get_all(header::SET_COOKIE).iter();
    assert!(
        cookies.map(|cookie| cookie.to_str().unwrap()).any(|cookie| cookie.starts_with("lang=ja; Path=/;"))
    );
    let body = lobby_with("/", &[polish, (header::COOKIE, "lang=ja")]).await.body;
    assert!(body.contains("<html lang=\"ja\">"), "{body}");
}

#[tokio::test]
async fn a_language_that_we_do_not_speak_changes_nothing() {
    let answer = lobby_with("/?lang=tlh", &[(header::COOKIE, "lang=tlh")]).await;
    assert!(answer.body.contains("<html lang=\"en\">"), "{}", answer.body);
    let cookies = answer.headers.get_all(header::SET_COOKIE).iter();
    assert!(!cookies.map(|cookie| cookie.to_str().unwrap()).any(|cookie| cookie.starts_with("lang=")));
}

#[tokio::test]
async fn people_see_themselves_and_their_bots() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let request = Request::get("/account").header(header::COOKIE, &cookie).body(Body::empty()).unwrap();
    let body = site.send(request).await.body;
    assert!(body.contains("id=\"create-bot\""), "{body}");
    assert!(!body.contains("id=\"sign-up\""), "{body}");
    assert!(site.get("/account").await.body.contains("id=\"sign-up\""));
}

#[tokio::test]
async fn a_position_reads_without_script() {
    let site = site("plays").await;
    let body = site.get("/analysis/4").await.body;
    for words in [
        "Coral wins in 20",
        "Gold to move",
        "Column 4: Coral wins in 20",
        "href=\"/analysis/41\"",
        "value=\"4\"",
    ] {
        assert!(body.contains(words), "{words}: {body}");
    }
    let start = site.get("/analysis").await.body;
    assert!(start.contains("1 game"), "what was played there: {start}");
    let over = site.get("/analysis/1212121").await.body;
    assert!(over.contains("Coral has won"), "{over}");
    let hard = site.get("/analysis/5?variant=9x6x5").await.body;
    assert!(hard.contains("Too hard to solve here") && hard.contains("/analysis/51?variant=9x6x5"), "{hard}");
    assert!(site.get("/game/one").await.body.contains("href=\"/analysis/1212121\""), "from the game");
}

#[tokio::test]
async fn a_position_that_cannot_be_is_said_in_words() {
    let site = TestSite::new();
    for (path, words) in [
        ("/analysis/448", "Move 3: this board has no column 8."),
        ("/analysis/4444444", "Move 7: column 4 is full."),
        ("/analysis/44%3Cscript%3E", "Move 3: “&#60;” is not a column."),
        ("/analysis/4?variant=%22%3E", "There is no board “&#34;&#62;”."),
        ("/analysis/4?variant=7x6&variant=0x0", "There is no board “0x0”."),
        ("/analysis?variant=99x99", "There is no board “99x99”."),
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
        assert!(answer.body.contains(words), "{path}: {}", answer.body);
    }
}

#[tokio::test]
async fn positions_are_found_by_short_addresses_moves_and_links() {
    let site = site("plays").await;
    for (path, status, target) in [
        ("/p/4453", 308, "/analysis/4453"),
        ("/glossary", 308, "/learn/glossary"),
        ("/p/12?variant=8x7", 308, "/analysis/12?variant=8x7"),
        ("/analysis?moves=+44+53&variant=7x6", 303, "/analysis/4453?variant=7x6"),
        ("/analysis?moves=https%3A%2F%2Fx.example%2Fgame%2Fone", 303, "/analysis/1212121"),
        ("/analysis?moves=%2Fp%2F12%3Fvariant%3D8x7", 303, "/analysis/12?variant=8x7"),
        ("/analysis?moves=x%3A%2F%2Fevil", 303, "/analysis/x___evil"),
    ] {
        let answer = site.get(path).await;
        assert_eq!((answer.status.as_u16(), answer.header(header::LOCATION)), (status, target), "{path}");
    }
    assert_eq!(site.get("/analysis?moves=%2Fgame%2Fnone").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_search_leads_to_a_player_or_a_game_and_else_names_those_alike() {
    let site = site("plays").await;
    for (wanted, path) in
        [("ADA", "/player/Ada"), ("one", "/game/one"), ("https%3A%2F%2Fx.org%2Fgame%2Fone%2F", "/game/one")]
    {
        let found = site.get(&format!("/find?for={wanted}")).await;
        assert_eq!((found.status, found.header(header::LOCATION)), (StatusCode::SEE_OTHER, path), "{wanted}");
    }
    for (wanted, alike) in [("b", None), ("bo", Some("Bob")), ("al", Some("hal"))] {
        let found = site.get(&format!("/find?for={wanted}")).await;
        assert_eq!(found.status, StatusCode::NOT_FOUND);
        let link = alike.map(|name| format!("href=\"/player/{name}\""));
        assert!(link.is_none_or(|link| found.body.contains(&link)), "{wanted}: {}", found.body);
    }
    let nothing = site.get("/find?for=%3Cscript%3E").await;
    assert!(nothing.body.contains("value=\"&#60;script&#62;\""), "{}", nothing.body);
    assert!(!nothing.body.contains("<script>"), "{}", nothing.body);
    for path in ["/nothing", "/player/nobody", "/game/none"] {
        let page = site.get(path).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.body.contains("action=\"/find\"") && page.body.contains("href=\"/p/445563\""), "{path}");
    }
}

#[tokio::test]
async fn the_lobby_shows_each_pairing_once_however_often_they_played() {
    let site = site("plays").await;
    add_players(&*site.store, &["Cy"]).await;
    for (id, first, second) in
        [("two", "Bob", "Ada"), ("three", "Ada", "Bob"), ("four", "Ada", "Cy"), ("five", "Cy", "Bob")]
    {
        play(&*site.store, spec(id, first, second), FIRST_WINS, GameResult::First, EndReason::Four).await;
    }
    let page = site.get("/").await.body;
    let mut pairings: Vec<&str> =
        page.split("data-pairing=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(pairings.len(), 2, "three pairings, one of which is the great board's: {pairings:?}");
    pairings.dedup();
    assert_eq!(pairings.len(), 2, "{pairings:?}");
}
