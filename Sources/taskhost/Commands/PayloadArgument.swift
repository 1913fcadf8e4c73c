import ArgumentParser
import Glibc
import HostThreads
import StrictText
import TaskModel

/// The argument of `--payload`.
enum PayloadArgument {
  /// The maximum number of bytes read from a file. The host decides how large a payload may be.
  private static let limit = 1_048_576

  /// Writes `argument` as the member `payload` or `payload_base64`.
  static func read(_ argument: String, into writer: inout JSONWriter) throws {
    guard argument.hasPrefix("@") else {
      let bytes = Array(argument.utf8)
      do {
        _ = try JSONReader.read(bytes, limits: JSONLimits(depth: 120))
      } catch {
        throw ValidationError("--payload is not JSON: \(error): quote it for the shell, or pass bytes of any kind as @FILE.")
      }
      writer.name(RequestField.payload.rawValue)
      return writer.raw(bytes)
    }
    let bytes = try contents(of: String(argument.dropFirst()), "--payload @")
    if JSONReader.isValid(bytes, depth: 120) {
      writer.name(RequestField.payload.rawValue)
      writer.raw(bytes)
    } else {
      writer.member(RequestField.payloadBase64, Base64.encode(bytes))
    }
  }

  /// The bytes of the file that an option names; `-` is standard input.
  static func contents(of path: String, _ option: String) throws(CommandFailure) -> [UInt8] {
    let bytes: [UInt8]
    do throws(ErrorNumber) {
      bytes = path == "-" ? try WholeTransfer.read(from: STDIN_FILENO, atMost: limit + 1) : try WholeTransfer.read(path, atMost: limit + 1)
    } catch { throw CommandFailure(.usage, "\(option)\(path)", error.description, remedy: "name a file that can be read") }
    guard bytes.count <= limit else {
      throw CommandFailure(.usage, "\(option)\(path)", "has more than 1 MiB", remedy: "name a smaller file")
    }
    return bytes
  }
}
