import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// Adds what is submitted here to the fleet's database, on a thread and a connection of its own: a submission does not wait until the host has
/// looked for work, nor does the host look later because of it.
///
/// While the thread that looks waits for something to do, it adds single requests itself: two connections that both have slept answer
/// later than one.
final class FleetOutbox {
  private let agent: FleetAgent
  private var session: FleetSession?
  /// What the last connection left at the server.
  private var left: Int64?
  private var writer: FleetWriter
  /// Why the last submissions were not added, and how often in a row that was so.
  private var failures: (last: FleetError?, count: Int) = (nil, 0)

  init(_ agent: FleetAgent) { (self.agent, writer) = (agent, FleetWriter(agent)) }

  /// Adds what comes, until the agent is over and nothing waits any more.
  func serve() {
    while var arrivals = agent.takeArrivals() {
      var added = 0
      var failure: FleetError?
      do throws(FleetError) {
        let session = try connected()
        try writer.refuseExcess(&arrivals, session)
        try writer.add(&arrivals, session, counting: &added)
      } catch { failure = error }
      agent.note(added: added)
      note(failure, refusing: arrivals)
    }
  }

  /// - Parameter failure: Why some were not added; nil if all were answered.
  private func note(_ failure: FleetError?, refusing arrivals: [FleetAgent.Arrival]) {
    guard let failure else { return failures = (nil, 0) }
    writer.refuse(arrivals, failure)
    left = session?.left ?? left
    (session, writer) = (nil, FleetWriter(agent))
    if agent.trouble == nil, failure.isNews(after: failures.last) {
      agent.log.error("what was submitted for the fleet is refused: \(failure)")
    }
    failures = (failure, failures.count + 1)
    agent.rest(for: agent.place.pause(after: failures.count))
  }

  private func connected() throws(FleetError) -> FleetSession {
    // It may have been unused for hours: nobody should be refused because the server was restarted meanwhile.
    if let session, session.isOpen { return session }
    let new = try agent.place.connect(left: session?.left ?? left)
    (session, left) = (new, nil)
    return new
  }
}
