import ArgumentParser
import Glibc
import HostControl
import StrictText

/// The argument of `--payload`.
enum PayloadArgument {
  /// Writes the member `payload` or `payload_base64` that `argument` stands for.
  static func read(_ argument: String, into writer: inout JSONWriter) throws {
    guard argument.hasPrefix("@") else {
      let bytes = Array(argument.utf8)
      do {
        _ = try JSONReader.read(bytes, limits: JSONLimits(depth: 120))
      } catch {
        throw ValidationError("--payload is not JSON: \(error): quote it for the shell, or pass other bytes as @FILE.")
      }
      writer.name("payload")
      return writer.raw(bytes)
    }
    let bytes = try contents(of: String(argument.dropFirst()))
    if JSONReader.isValid(bytes, depth: 120) {
      writer.name("payload")
      writer.raw(bytes)
    } else {
      writer.member("payload_base64", Base64.encode(bytes))
    }
  }

  private static func contents(of path: String) throws -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(.usage, "--payload @\(path)", String(cString: strerror(errno)), remedy: "name a file that can be read")
    }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = part.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw CommandFailure(.usage, "--payload @\(path)", String(cString: strerror(errno)), remedy: "name a file that can be read")
      }
      bytes.append(contentsOf: part[..<count])
      guard bytes.count <= 1_048_576 else {
        throw CommandFailure(
          .usage, "--payload @\(path)", "has more than 65,536 bytes", remedy: "pass the file's path in the payload instead")
      }
    }
  }
}
