//! Where somebody has their mail, and the way back to an account whose password is forgotten.

use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::http::letters::Letters;
use crate::http::site::Site;
use crate::http::testing::{Answer, PASSWORD, TestArena, TestSite, credentials};
use crate::operations::mail::tests::mailer_at_work;
use crate::storage::mails::MailStore as _;
use crate::storage::people::PeopleStore as _;

const MAIL: &str = "/api/v1/account/mail";
const RESET: &str = "/api/v1/mail/reset";

/// What arrived: to whom, and what it says.
type Mailbox = mpsc::UnboundedReceiver<(String, String)>;

/// A site that sends mails, and what arrives of them.
async fn site() -> (TestSite, Mailbox) {
    let (mailer, mailbox) = mailer_at_work(Letters).await;
    (TestSite::with(Site::default(), TestArena { mailer: Some(mailer), ..TestArena::default() }), mailbox)
}

async fn set(site: &TestSite, cookie: &str, address: &str, password: &str) -> Answer {
    let body = json!({ "address": address, "password": password, "language": "de" });
    site.as_page(Method::PUT, MAIL, cookie, &body).await
}

async fn show(site: &TestSite, cookie: &str) -> Answer {
    site.as_page(Method::GET, MAIL, cookie, &Value::Null).await
}

async fn verify(site: &TestSite, link: &str) -> Answer {
    site.post("/api/v1/mail/verification", &json!({ "link": link })).await
}

async fn set_password(site: &TestSite, link: &str, password: &str) -> Answer {
    let body = json!({ "link": link, "new_password": password });
    site.as_page(Method::PUT, "/api/v1/mail/password", "", &body).await
}

async fn sign_in(site: &TestSite, password: &str) -> StatusCode {
    site.post("/api/v1/sessions", &credentials("Ada", password)).await.status
}

/// What stands behind the sign in the link of a mail to this page.
fn link_in(mail: &str, page: &str) -> String {
    let start = format!("https://fourfold.example{page}#");
    let line = mail.lines().find_map(|line| line.strip_prefix(&start));
    line.unwrap_or_else(|| panic!("no link in {mail}")).to_owned()
}

/// Ada with a verified address; her cookie.
async fn ada(site: &TestSite, mailbox: &mut Mailbox) -> String {
    let cookie = site.register("Ada").await;
    set(site, &cookie, "ada@example.org", PASSWORD).await;
    let (_, mail) = mailbox.recv().await.unwrap();
    assert_eq!(verify(site, &link_in(&mail, "/account/mail")).await.status, StatusCode::NO_CONTENT);
    cookie
}

/// The link to a new password that was sent for Ada.
async fn asked(site: &TestSite, mailbox: &mut Mailbox) -> String {
    let answer = site.post(RESET, &json!({ "address": "ADA@example.org" })).await;
    assert_eq!((answer.status, answer.json()), (StatusCode::ACCEPTED, json!({ "asked": true })));
    let (to, mail) = mailbox.recv().await.unwrap();
    assert_eq!(to, "ada@example.org");
    link_in(&mail, "/account/reset")
}

#[tokio::test]
async fn an_address_is_set_verified_shown_and_removed() {
    let (site, mut mailbox) = site().await;
    let ada = site.register("Ada").await;
    show(&site, &ada).await.check_refused(404, "not_found", None);
    let set = set(&site, &ada, " Ada@Example.org ", PASSWORD).await.json();
    assert_eq!((&set["address"], &set["verified"]), (&json!("Ada@example.org"), &json!(false)));
    let (to, mail) = mailbox.recv().await.unwrap();
    assert_eq!(to, "Ada@example.org");
    assert!(mail.contains("Konto Ada"), "in the language of the page: {mail}");
    let link = link_in(&mail, "/account/mail");
    assert_eq!(verify(&site, &link).await.status, StatusCode::NO_CONTENT);
    verify(&site, &link).await.check_refused(404, "not_found", Some("link"));
    let shown = show(&site, &ada).await.json();
    assert_eq!((&shown["verified"], &shown["bot_paused"]), (&json!(true), &json!(false)));
    let notices =
        site.as_page(Method::PUT, &format!("{MAIL}/notices"), &ada, &json!({ "bot_paused": true })).await;
    assert_eq!(notices.status, StatusCode::NO_CONTENT);
    assert_eq!(show(&site, &ada).await.json()["bot_paused"], true);
    let remove = async || site.as_page(Method::DELETE, MAIL, &ada, &Value::Null).await;
    assert_eq!(remove().await.status, StatusCode::NO_CONTENT);
    remove().await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn an_address_takes_the_password_and_a_form() {
    let (site, mut mailbox) = site().await;
    let ada = site.register("Ada").await;
    set(&site, &ada, "ada@example.org", "not the password").await.check_refused(
        403,
        "forbidden",
        Some("password"),
    );
    for address in ["", "ada", "ada@example.org\r\nBcc: all@example.org", "Ada <ada@example.org>"] {
        set(&site, &ada, address, PASSWORD).await.check_refused(422, "bad_field", Some("address"));
    }
    show(&site, &ada).await.check_refused(404, "not_found", None);
    assert!(mailbox.try_recv().is_err());
}

#[tokio::test]
async fn an_address_hears_that_it_is_no_longer_an_accounts() {
    let (site, mut mailbox) = site().await;
    let cookie = ada(&site, &mut mailbox).await;
    // The same one again is no other one.
    set(&site, &cookie, "ADA@example.org", PASSWORD).await;
    let (_, mail) = mailbox.recv().await.unwrap();
    verify(&site, &link_in(&mail, "/account/mail")).await;
    set(&site, &cookie, "ada@example.net", PASSWORD).await;
    assert_eq!(mailbox.recv().await.unwrap().0, "ada@example.net");
    let (to, mail) = mailbox.recv().await.unwrap();
    assert_eq!(to, "ADA@example.org");
    assert!(mail.contains("Konto Ada"), "{mail}");
    assert!(mail.lines().any(|line| line == "https://fourfold.example/account"), "{mail}");
    // Nobody reads there for sure.
    set(&site, &cookie, "ada@example.com", PASSWORD).await;
    let (_, mail) = mailbox.recv().await.unwrap();
    verify(&site, &link_in(&mail, "/account/mail")).await;
    site.as_page(Method::DELETE, MAIL, &cookie, &Value::Null).await;
    assert_eq!(mailbox.recv().await.unwrap().0, "ada@example.com");
    assert!(mailbox.try_recv().is_err());
}

#[tokio::test]
async fn a_forgotten_password_is_set_anew_once_by_a_link_that_ends_all_sessions() {
    let (site, mut mailbox) = site().await;
    let ada = ada(&site, &mut mailbox).await;
    let older = asked(&site, &mut mailbox).await;
    let link = asked(&site, &mut mailbox).await;
    set_password(&site, &older, "a new password").await.check_refused(404, "not_found", Some("link"));
    set_password(&site, &link, "short").await.check_refused(422, "bad_field", Some("new_password"));
    let set = set_password(&site, &link, "a new password").await;
    assert_eq!(set.status, StatusCode::NO_CONTENT, "{}", set.body);
    set_password(&site, &link, "another password").await.check_refused(404, "not_found", Some("link"));
    show(&site, &ada).await.check_refused(401, "unauthorized", None);
    assert_eq!(sign_in(&site, PASSWORD).await, StatusCode::UNAUTHORIZED);
    assert_eq!(sign_in(&site, "a new password").await, StatusCode::CREATED);
}

#[tokio::test]
async fn nobody_learns_which_addresses_there_are() {
    let (site, mut mailbox) = site().await;
    let cookie = ada(&site, &mut mailbox).await;
    site.register("Bob").await;
    let known = site.post(RESET, &json!({ "address": "ada@example.org" })).await;
    let unknown = site.post(RESET, &json!({ "address": "bob@example.org" })).await;
    assert_eq!((known.status, &known.body), (unknown.status, &unknown.body));
    assert!(mailbox.recv().await.unwrap().1.contains("#c4m_"));
    // One that nobody has verified is nobody's.
    set(&site, &cookie, "ada@example.net", PASSWORD).await;
    assert_eq!(mailbox.recv().await.unwrap().0, "ada@example.net");
    assert_eq!(mailbox.recv().await.unwrap().0, "ada@example.org");
    site.post(RESET, &json!({ "address": "ada@example.net" })).await;
    site.post(RESET, &json!({ "address": "ada@example.org" })).await;
    let link = async { mailbox.recv().await };
    assert!(tokio::time::timeout(Duration::from_millis(200), link).await.is_err());
}

#[tokio::test]
async fn few_links_are_sent_to_one_account_and_asked_for_from_one_place() {
    let (site, mut mailbox) = site().await;
    ada(&site, &mut mailbox).await;
    let (began, mut refused) = (Instant::now(), 0);
    for _ in 0..40 {
        let answer = site.post(RESET, &json!({ "address": "ada@example.org" })).await;
        refused += u64::from(answer.status == StatusCode::TOO_MANY_REQUESTS);
    }
    // Setting and verifying the address were two of thirty; a slow machine gives some of them back meanwhile.
    let given_back = began.elapsed().as_secs() / 120 + 1;
    assert!((12 - given_back..=12).contains(&refused), "{refused}");
    let mut sent = 0;
    let pause = Duration::from_secs(2);
    while tokio::time::timeout(pause, mailbox.recv()).await.is_ok_and(|mail| mail.is_some()) {
        sent += 1;
    }
    assert_eq!(sent, 4, "the first of five verified the address");
}

#[tokio::test]
async fn what_is_no_link_opens_nothing() {
    let (site, mut mailbox) = site().await;
    ada(&site, &mut mailbox).await;
    let verifying = asked(&site, &mut mailbox).await;
    let long = "c4m_".to_owned() + &"x".repeat(10_000);
    for link in ["", "c4m_", &long, "c4m_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
        verify(&site, link).await.check_refused(404, "not_found", Some("link"));
        set_password(&site, link, "a new password").await.check_refused(404, "not_found", Some("link"));
    }
    verify(&site, &verifying).await.check_refused(404, "not_found", Some("link"));
    assert_eq!(sign_in(&site, PASSWORD).await, StatusCode::CREATED);
}

#[tokio::test]
async fn an_address_is_its_owners_business() {
    let (site, _mailbox) = site().await;
    let ada = site.register("Ada").await;
    let made = site.as_page(Method::POST, "/api/v1/bots", &ada, &json!({ "name": "six" })).await.json();
    let token = format!("Bearer {}", made["token"].as_str().unwrap());
    let put = || axum::http::Request::put(MAIL).header(header::CONTENT_TYPE, "application/json");
    let body = || json!({ "address": "ada@example.org", "password": PASSWORD }).to_string().into();
    let bot = site.send(put().header(header::AUTHORIZATION, token).body(body()).unwrap()).await;
    bot.check_refused(403, "forbidden", None);
    site.send(put().body(body()).unwrap()).await.check_refused(401, "unauthorized", None);
    let forged = put().header(header::COOKIE, &ada).header(header::ORIGIN, "https://evil.example");
    site.send(forged.body(body()).unwrap()).await.check_refused(403, "origin_not_allowed", None);
    show(&site, &ada).await.check_refused(404, "not_found", None);
}

#[tokio::test]
async fn it_is_taken_along_shown_to_nobody_and_goes_with_the_account() {
    let (site, mut mailbox) = site().await;
    let ada = ada(&site, &mut mailbox).await;
    let export = site.as_page(Method::GET, "/api/v1/account/export", &ada, &Value::Null).await.body;
    assert!(export.contains("{\"mail\":{\"address\":\"ada@example.org\""), "{export}");
    let page = site.as_page(Method::GET, "/account", &ada, &Value::Null).await.body;
    assert!(page.contains("value=\"ada@example.org\""), "{page}");
    for path in ["/player/Ada", "/api/v1/players/Ada", "/account"] {
        assert!(!site.get(path).await.body.contains("example.org"), "{path}");
    }
    let owner = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    let gone = site.as_page(Method::DELETE, "/api/v1/account", &ada, &json!({ "password": PASSWORD })).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT, "{}", gone.body);
    assert_eq!(site.store.mail(&owner).await.unwrap(), None);
}

#[tokio::test]
async fn where_operators_have_no_mail_server_nothing_of_it_is_there() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    set(&site, &ada, "ada@example.org", PASSWORD).await.check_refused(404, "not_found", None);
    site.post(RESET, &json!({ "address": "ada@example.org" })).await.check_refused(404, "not_found", None);
    let page = site.as_page(Method::GET, "/account", &ada, &Value::Null).await.body;
    assert!(!page.contains("set-mail"), "{page}");
    assert!(!site.get("/account").await.body.contains("/account/reset"));
    for path in ["/account/reset", "/account/mail"] {
        assert_eq!(site.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn the_pages_to_which_links_lead_are_there_and_found_from_where_one_signs_in() {
    let (site, _mailbox) = site().await;
    assert!(site.get("/account").await.body.contains("href=\"/account/reset\""));
    for (path, form) in [("/account/reset", "id=\"ask-reset\""), ("/account/mail", "id=\"verify-mail\"")] {
        let page = site.get(path).await;
        assert!(page.status == StatusCode::OK && page.body.contains(form), "{path}: {}", page.body);
    }
}
