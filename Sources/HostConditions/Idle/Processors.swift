import Glibc

/// The machine's processors.
enum Processors {
  /// How many are online; at least 1.
  static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
