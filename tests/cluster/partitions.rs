//! What happens to the whole line of a node, on a network of the test's own: with its lines to the database and the bus
//! those to players and to other nodes.

use std::time::Duration;

use crate::line::Cut;
use crate::network::{Machine, Network, Weather};
use crate::nodes::Nodes;
use crate::{GOES_ON_MAX, STILL, Test, replaced};

/// One after the other, each first for the node that leads and then for another one.
const WEATHERS: [(Weather, &str); 4] = [
    (Weather::LinkDown, "its link is down"),
    (Weather::Cut(Cut::ToServer), "what it sends gets lost"),
    (Weather::Cut(Cut::FromServer), "what is sent to it gets lost"),
    (Weather::Bad, "all is 100 ms late each way, and one packet in 20 gets lost"),
];

/// How long a game may stand still whose leader has a bad line. It is not cut off, and nobody takes its place: it has
/// to find out, and then stores all clocks by that line before another one leads.
const FAR_MAX: Duration = Duration::from_secs(12);

impl Test<'_> {
    /// Lets something happen to a node's line for longer than a lease, and prints how long games stood still.
    pub(crate) async fn partition(
        &mut self,
        nodes: &mut Nodes,
        network: &Network,
        round: u32,
    ) -> Vec<String> {
        self.quiet().await;
        let leader = nodes.leader().await;
        let is_of_leader = round.is_multiple_of(2);
        let node = if is_of_leader { leader } else { (leader + 1) % nodes.len() };
        let (weather, what) = WEATHERS[(round as usize / 2) % WEATHERS.len()];
        network.befall(Machine::Node(node), weather);
        self.watch.fault();
        tokio::time::sleep(STILL).await;
        network.befall(Machine::Node(node), Weather::Fair);
        let mut faults = Vec::new();
        if is_of_leader && weather != Weather::Bad {
            faults.extend(replaced(nodes, leader).await);
            nodes.start_again(leader);
        } else {
            // Who is far from the database lets another one lead, and nobody misses one that led nothing. Each goes on.
            if (nodes.leader().await == leader) == is_of_leader {
                let leads = if is_of_leader { "it still leads" } else { "somebody else leads" };
                faults.push(format!("{what}, and {leads}"));
            }
            if let Some(code) = nodes.ended_within(node, Duration::ZERO).await {
                faults.push(format!("{what}, and the node ended with {code:?}"));
                nodes.start_again(node);
            }
        }
        self.watch.all_go_on(GOES_ON_MAX).await;
        let still = self.watch.take();
        let longest = if weather == Weather::Bad { FAR_MAX } else { GOES_ON_MAX };
        println!("{}, {what}: {still}", if is_of_leader { "a leader" } else { "a node that stands by" });
        if still.longest() > longest {
            faults.push(format!("{what}: a game stood still for {:?}", still.longest()));
        }
        faults
    }
}
