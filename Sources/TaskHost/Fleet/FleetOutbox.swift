import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// Sends to the fleet's database, on a thread and a connection of its own, what is submitted here: a submission does not wait until the host
/// has looked for work, nor does the host look later because of it. If much has ended, this thread records that too, while the other one
/// claims more.
///
/// While the thread that looks waits for something to do, it adds single requests itself: two connections that both have slept answer
/// later than one.
final class FleetOutbox {
  private let agent: FleetAgent
  private var session: FleetSession?
  /// What the last connection left at the server.
  private var left: Int64?
  private var writer: FleetWriter
  /// How often in a row sending failed.
  private var failures = 0

  init(_ agent: FleetAgent) { (self.agent, writer) = (agent, FleetWriter(agent)) }

  /// Sends what comes, until the agent is over and nothing waits any more.
  func serve() {
    while var outgoing = agent.takeOutgoing() {
      let submits = !outgoing.arrivals.isEmpty
      var added = 0
      var failure: FleetError?
      do throws(FleetError) {
        let session = try connected()
        try record(&outgoing.ended, session)
        try writer.refuseExcess(&outgoing.arrivals, session)
        try writer.add(&outgoing.arrivals, session, counting: &added)
      } catch { failure = error }
      agent.note(added: added)
      if submits, failure == nil { agent.noteSubmissionsTaken() }
      note(failure, leaving: outgoing)
    }
  }

  /// - Parameter ended: Loses what is recorded.
  private func record(_ ended: inout [FleetAgent.Ended], _ session: FleetSession) throws(FleetError) {
    guard !ended.isEmpty else { return }
    guard let incarnation = agent.lease.incarnation else { throw .fenced }
    let settled = try writer.settlements(&ended, incarnation, session)
    let fenced = try session.record(incarnation, settled, tells: FleetWriter.leavesRoom(settled))
    agent.letGo(of: ended, fenced: fenced)
    ended = []
  }

  /// - Parameters:
  ///   - failure: Why some were not sent; nil if all were.
  ///   - outgoing: Those that were not.
  private func note(_ failure: FleetError?, leaving outgoing: FleetAgent.Outgoing) {
    guard let failure else { return failures = 0 }
    if !outgoing.arrivals.isEmpty { agent.noteSubmissions(refusedBecause: failure) }
    agent.putBack(outgoing.ended, failure)
    writer.refuse(outgoing.arrivals, failure)
    left = session?.left ?? left
    (session, writer) = (nil, FleetWriter(agent))
    failures += 1
    agent.rest(for: agent.place.pause(after: failures))
  }

  private func connected() throws(FleetError) -> FleetSession {
    // It may have been unused for hours: nobody should be refused because the server was restarted meanwhile.
    if let session, session.isOpen { return session }
    let new = try agent.place.connect(left: session?.left ?? left)
    (session, left) = (new, nil)
    return new
  }
}
