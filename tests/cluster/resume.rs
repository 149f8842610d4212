//! Clients that change nodes while they hear how all games end: each goes on as who it was, misses nothing and hears
//! nothing twice, for the node that has its session lives.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use crate::client::Client;

/// Clients that are on their way at the same time: more would measure how fast two cores greet.
const AT_A_TIME: usize = 100;

/// Changes of the node for each client.
const CHANGES: usize = 4;

/// Messages before each change.
const MESSAGES: u64 = 5;

/// How long a client is away: some games end meanwhile.
const AWAY: Duration = Duration::from_millis(100);

/// What came of it, of some clients.
#[derive(Default)]
struct Changes {
    done: usize,
    /// Messages of the time that it was away for.
    came_later: u64,
    faults: Vec<String>,
}

/// Lets so many clients change nodes, by turns through all of them.
pub(crate) async fn test(nodes: &[SocketAddr], clients: usize) -> Vec<String> {
    let mut running = JoinSet::new();
    let mut all = Changes::default();
    for client in 0..clients {
        if running.len() == AT_A_TIME {
            all.add(running.join_next().await.expect("some run").expect("a client does not panic"));
        }
        let mut nodes = nodes.to_vec();
        let nodes_len = nodes.len();
        nodes.rotate_left(client % nodes_len);
        running.spawn(async move { change_nodes(&nodes).await });
    }
    while let Some(changes) = running.join_next().await {
        all.add(changes.expect("a client does not panic"));
    }
    println!(
        "{clients} clients changed nodes {} times: {} messages came after the change, {} faults",
        all.done,
        all.came_later,
        all.faults.len()
    );
    all.faults.truncate(20);
    all.faults
}

impl Changes {
    fn add(&mut self, other: Self) {
        self.done += other.done;
        self.came_later += other.came_later;
        self.faults.extend(other.faults);
    }
}

/// One client, by one node after the other.
async fn change_nodes(nodes: &[SocketAddr]) -> Changes {
    let mut changes = Changes::default();
    let mut client = match listening(nodes[0]).await {
        Ok(client) => client,
        Err(why) => return Changes { faults: vec![why], ..changes },
    };
    for change in 1..=CHANGES {
        match change_to(&mut client, nodes[change % nodes.len()], change).await {
            Ok(came_later) => {
                changes.done += 1;
                changes.came_later += came_later;
            }
            Err(why) => {
                changes.faults.push(why);
                return changes;
            }
        }
    }
    changes
}

/// A client that hears how all games end.
async fn listening(node: SocketAddr) -> Result<Client, String> {
    let mut client = Client::connect(node).await?;
    client.say(&json!({"type": "watch", "feed": "results"})).await?;
    Ok(client)
}

/// Hears some messages, changes the node, and hears on; how many messages came of the time between.
async fn change_to(client: &mut Client, node: SocketAddr, asked: usize) -> Result<u64, String> {
    for _ in 0..MESSAGES {
        client.hear().await?;
    }
    client.leave().await?;
    tokio::time::sleep(AWAY).await;
    client.go_on_at(node).await?;
    let before = client.seq();
    let question = asked.to_string();
    client.say(&json!({"type": "watch", "id": question, "game": "none"})).await?;
    while client.hear().await?["re"] != question {}
    // The answer is none of them.
    Ok(client.seq() - before - 1)
}
