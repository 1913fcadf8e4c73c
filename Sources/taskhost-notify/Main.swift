import CTaskHostSystem
import Glibc
import HostThreads
import NoticeDelivery

/// Delivers one notification or ping, which is on standard input, and ends: the host starts it as the command of a `[[notify]]`. What it needs
/// to know is in its environment, where other users do not see it: addresses may be secrets.
@main enum Main {
  static func main() {
    let end: DeliveryEnd =
      switch CommandLine.arguments.dropFirst().first {
      case "webhook": webhook()
      case "mail": mail()
      case "ping": ping()
      case "traces": traces()
      default: .refused("taskhost-notify delivers what [[notify]] says, and is started by the host alone")
      }
    if let sentence = end.sentence { _ = (sentence + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) } }
    exit(end.exitCode)
  }

  private static func variable(_ name: String) -> String? { getenv("TASKHOST_" + name).map { String(cString: $0) } }

  /// The most bytes of a payload.
  private static let mostBytes = 1 << 20

  private static func input() -> [UInt8] { (try? WholeTransfer.read(from: STDIN_FILENO, atMost: mostBytes)) ?? [] }

  private static func webhook() -> DeliveryEnd {
    guard let url = variable("NOTIFY_URL"), let id = variable("REQUEST_ID") else { return .refused("there is no URL or no request") }
    var webhook = Webhook(url: url, id: id)
    if let format = variable("NOTIFY_FORMAT").flatMap(Webhook.Format.init(rawValue:)) { webhook.format = format }
    if let path = variable("NOTIFY_SECRET_FILE") {
      do throws(SecretProblem) { webhook.signature = try WebhookSignature(file: path) } catch { return .later(error.description) }
    }
    return webhook.send(input(), time: Int64(time(nil)))
  }

  private static func ping() -> DeliveryEnd {
    guard let url = variable("NOTIFY_URL"), let signal = variable("NOTIFY_SIGNAL").flatMap(Ping.Signal.init(rawValue:)) else {
      return .refused("there is no URL or no signal")
    }
    return Ping.send(signal, to: url, run: variable("RUN"), message: input())
  }

  /// Sends spans, and answers on standard output what became of them.
  private static func traces() -> DeliveryEnd {
    let result = spans()
    try? WholeTransfer.write(result.json, to: STDOUT_FILENO)
    return result.end
  }

  /// The most bytes of a message of spans.
  private static let spanBytes = 8 << 20

  private static func spans() -> SpanUpload.Result {
    guard let url = variable("TRACES_URL") else { return .failed(.refused("there is no URL")) }
    var upload = SpanUpload(url: url)
    if let path = variable("TRACES_HEADERS_FILE") {
      do throws(SecretProblem) { upload.headers = try SpanUpload.headers(inFile: path) } catch { return .failed(.later(error.description)) }
    }
    guard let message = try? WholeTransfer.read(from: STDIN_FILENO, atMost: spanBytes), message.count < spanBytes else {
      return .failed(.refused("the message is too large"))
    }
    return upload.send(message)
  }

  /// Becomes sendmail, whose exit code the host then sees: 75 asks for another attempt.
  private static func mail() -> DeliveryEnd {
    guard let recipient = variable("NOTIFY_MAIL"), let id = variable("REQUEST_ID"), let program = variable("NOTIFY_SENDMAIL") else {
      return .refused("there is no recipient or no request")
    }
    guard let notice = NoticeText(input()) else { return .refused("the payload is no notification") }
    guard let mail = MailMessage(to: recipient, from: variable("NOTIFY_MAIL_FROM"), id: id) else { return .refused("an address is none") }
    let message = mail.bytes(notice)
    let descriptor = taskhost_system_memfd("mail")
    guard descriptor >= 0, (try? WholeTransfer.write(message, to: descriptor)) != nil, lseek(descriptor, 0, SEEK_SET) == 0,
      dup2(descriptor, STDIN_FILENO) == STDIN_FILENO
    else { return .later("a mail cannot be passed on: \(ErrorNumber.last)") }
    let arguments: [String] = [program, "-t", "-i"]
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { word in strdup(word) }
    words.append(nil)
    execv(program, &words)
    return .later("cannot start \(program): \(ErrorNumber.last): install a mail system, or name its program in sendmail")
  }
}
