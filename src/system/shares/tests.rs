use super::*;

fn shares(settings: ShareSettings) -> Shares {
    Shares::new(settings, Arc::new(Metrics::new()))
}

fn stranger(address: &str) -> Payer {
    Payer::stranger(address.parse().unwrap())
}

/// Spends until it is refused.
fn exhaust(shares: &Shares, share: Share, payer: &Payer) -> (u32, Refusal) {
    let mut spent = 0;
    loop {
        match shares.spend(share, payer) {
            Ok(()) => spent += 1,
            Err(refusal) => return (spent, refusal),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_uses_up_a_share_leaves_anothers_whole() {
    let counted: Vec<Share> =
        Share::ALL.into_iter().filter(|share| share.rule().network.budget.is_some()).collect();
    assert!(counted.len() > 10);
    for share in counted {
        let shares = shares(ShareSettings::default());
        let budget = share.rule().network.budget.unwrap();
        shares.charge(share, &stranger("192.0.2.1"), u64::from(budget.amount - 1));
        let (spent, refusal) = exhaust(&shares, share, &stranger("192.0.2.1"));
        assert_eq!((spent, refusal.whose), (1, Whose::Network), "{share:?}");
        assert_eq!(shares.spend(share, &stranger("192.0.2.2")), Ok(()), "{share:?}");
        tokio::time::advance(refusal.wait + Duration::from_micros(1)).await;
        assert_eq!(shares.spend(share, &stranger("192.0.2.1")), Ok(()), "{share:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_account_has_one_share_wherever_it_comes_from() {
    let shares = shares(ShareSettings::default());
    let account = PlayerId::random(&mut rand::rng());
    let from = |last: u8| Payer { address: IpAddr::from([192, 0, 2, last]), account: Some(account.clone()) };
    let budget = Share::PuzzleTry.rule().account.budget.unwrap();
    shares.charge(Share::PuzzleTry, &from(0), u64::from(budget.amount) - 2);
    let tries = (0..3).map(|last| shares.spend(Share::PuzzleTry, &from(last)));
    let refused: Vec<Refusal> = tries.filter_map(Result::err).collect();
    assert_eq!(refused.iter().map(|refusal| refusal.whose).collect::<Vec<_>>(), [Whose::Account]);
}

#[tokio::test(start_paused = true)]
async fn places_come_back_when_they_are_dropped() {
    let shares = shares(ShareSettings::default());
    let places = Share::Feed.rule().network.held.unwrap();
    let mut held: Vec<Held> =
        (0..places).map(|_| shares.hold(Share::Feed, &stranger("192.0.2.1")).unwrap()).collect();
    let refusal = shares.hold(Share::Feed, &stranger("192.0.2.1")).unwrap_err();
    assert_eq!((refusal.whose, refusal.wait), (Whose::Network, HELD_RETRY));
    let other = shares.hold(Share::Feed, &stranger("192.0.2.2")).unwrap();
    held.pop();
    let again = shares.hold(Share::Feed, &stranger("192.0.2.1")).unwrap();
    drop((held, other, again));
    let places = Share::Export.rule().all.held.unwrap();
    let all: Vec<_> = (0..places)
        .map(|n| shares.hold(Share::Export, &Payer::stranger(IpAddr::from((1 + n).to_be_bytes()))).unwrap())
        .collect();
    assert_eq!(shares.hold(Share::Export, &stranger("192.0.2.2")).unwrap_err().whose, Whose::Everybody);
    drop(all);
}

#[tokio::test(start_paused = true)]
async fn the_operator_gives_networks_several_shares_and_lets_this_machine_go_free() {
    let one = Share::Registration.rule().network.budget.unwrap().amount;
    let two = shares(ShareSettings { per_network: 2, counts_loopback: true });
    assert_eq!(exhaust(&two, Share::Registration, &stranger("192.0.2.1")).0, 2 * one);
    assert_eq!(exhaust(&two, Share::Registration, &stranger("127.0.0.1")).0, 2 * one);
    assert_eq!(two.spend(Share::Registration, &stranger("127.0.0.2")), Ok(()), "another address");
    let free = shares(ShareSettings::default());
    assert_eq!((0..1_000).find(|_| free.spend(Share::Registration, &stranger("::1")).is_err()), None);
}

#[tokio::test(start_paused = true)]
async fn refusals_are_counted_by_share() {
    let metrics = Arc::new(Metrics::new());
    let shares = Shares::new(ShareSettings::default(), Arc::clone(&metrics));
    let refusal = exhaust(&shares, Share::Registration, &stranger("192.0.2.1")).1;
    assert_eq!(refusal.to_string(), "too many new accounts from this network");
    let line = "fourfold_shares_refused_total{share=\"registration\"} 1";
    assert!(metrics.text().lines().any(|each| each == line), "{}", metrics.text());
}
