import CalendarTime
import HostThreads
public import Logging
import NIOSSL
import Synchronization
public import TaskModel

/// The certificate of a running host. It is read again when its files change; new connections get the new one, and others go on with theirs.
///
/// Certificate and key are often replaced one after the other. While the two do not belong together, or cannot be used, the pair from before
/// stays. Any thread.
public final class CertificateKeeper: Sendable {
  /// How long before its end a certificate is worth a warning.
  public static let notice = Duration.seconds(14 * 86_400)

  private struct State {
    var pair: CertificatePair
    /// Why the files as they are now cannot be used, and since when; nil if the pair is what they hold.
    var trouble: (error: CertificateError, since: WallTime)?
  }

  /// Where it is.
  public let files: CertificateFiles
  /// What became of clients that did not get as far as a request.
  let handshakes: HandshakeTally
  private let log: Logger
  private let state: Mutex<State>
  /// One reader at a time: what was read last is what stays.
  private let reading = Mutex(())

  /// Reads the files. Blocks briefly.
  ///
  /// - Throws: All flaws of both files. A certificate that has ended is none: the host serves its socket all the same, and has a problem.
  public init(_ files: CertificateFiles, log: Logger) throws(CertificateError) {
    (self.files, self.log, handshakes) = (files, log, HandshakeTally(log))
    let pair = try CertificatePair(files)
    state = Mutex(State(pair: pair))
    for problem in Self.problems(of: pair, files, at: SystemClock().wallTime) { log.warning("\(problem.text)") }
  }

  /// What new connections speak TLS with.
  var context: NIOSSLContext { state.withLock { $0.pair.context } }

  /// The files may have changed. Blocks briefly.
  func reload() {
    reading.withLock { _ in
      do throws(CertificateError) { take(try CertificatePair(files)) } catch { keep(despite: error) }
    }
  }

  private func take(_ pair: CertificatePair) {
    let (isNew, hadTrouble) = state.withLock { state in
      defer { state = State(pair: pair) }
      return (pair.digest != state.pair.digest, state.trouble != nil)
    }
    guard isNew || hadTrouble else { return }
    log.notice(
      "\(isNew ? "the certificate has changed" : "the certificate is as before again")",
      metadata: ["file": "\(files.certificate)", "valid_until": "\(Self.text(pair.validUntil))"])
    for problem in Self.problems(of: pair, files, at: SystemClock().wallTime) { log.warning("\(problem.text)") }
  }

  private func keep(despite error: CertificateError) {
    let isKnown = state.withLock { state in
      defer { state.trouble = (error, state.trouble?.since ?? SystemClock().wallTime) }
      return state.trouble?.error == error
    }
    if !isKnown { log.warning("the certificate from before stays: \(error.flaws.joined(separator: "; "))") }
  }

  /// What the operator should know.
  public var problems: [Problem] { problems(at: SystemClock().wallTime) }

  func problems(at now: WallTime) -> [Problem] {
    let (pair, trouble) = state.withLock { ($0.pair, $0.trouble) }
    return Self.problems(of: pair, files, at: now)
      + (trouble.map { error, since in
        [
          Problem(
            .certificate, of: files.certificate, "the certificate from before stays: \(error.flaws.joined(separator: "; "))",
            remedy: "repair the files: the host reads them again, and would not start with them", since: since, needsAction: false)
        ]
      } ?? [])
  }

  private static func problems(of pair: CertificatePair, _ files: CertificateFiles, at now: WallTime) -> [Problem] {
    func problem(_ clause: String, since: WallTime?, needsAction: Bool) -> [Problem] {
      [
        Problem(
          .certificate, of: files.certificate, "the certificate \(files.certificate) \(clause)",
          remedy: "replace it and its key: the host reads them again", since: since, needsAction: needsAction)
      ]
    }
    if now < pair.validFrom { return problem("is not valid before \(text(pair.validFrom))", since: nil, needsAction: true) }
    if pair.validUntil < now {
      return problem("ended at \(text(pair.validUntil)): clients refuse it", since: pair.validUntil, needsAction: true)
    }
    guard pair.validUntil - now < notice else { return [] }
    return problem("ends at \(text(pair.validUntil))", since: nil, needsAction: false)
  }

  private static func text(_ time: WallTime) -> String { RFC3339.format(time) ?? "never" }
}
