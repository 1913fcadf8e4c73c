import Glibc

/// Runs a program found by PATH to its end.
enum Command {
  /// - Returns: Its exit status, or -1 if it could not be started or did not exit.
  static func run(_ arguments: [String]) -> Int32 {
    var pointers = arguments.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    var child: pid_t = 0
    guard let name = pointers[0], posix_spawnp(&child, name, nil, nil, pointers, environ) == 0 else { return -1 }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 { if errno != EINTR { return -1 } }
    return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
  }
}
