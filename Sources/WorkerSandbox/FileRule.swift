import TaskModel

/// A path that a worker may use, and how.
struct FileRule {
  /// An absolute path.
  let path: String
  /// The access to the path and everything below it.
  let access: LandlockFileAccess
  /// The key of the configuration that it comes from; nil if every worker gets it. Such a path need not exist.
  var entitlement: String?
  /// Whether to follow links when the rule is made. A plugin could replace a path in a writable folder with a link.
  var followsLinks = true
  /// Whether to keep its entry open: `/proc` can recreate entries, which the rule would then not match.
  var held = false

  private static let libraries = ["/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/usr/local/lib64"]
  private static let programs = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/local/bin", "/usr/local/sbin"]
  /// Files that the dynamic loader, the C library and the Swift runtime read.
  private static let runtime = [
    "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/timezone", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group",
    "/etc/locale.alias", "/usr/share/zoneinfo", "/usr/share/locale", "/usr/share/i18n", "/usr/lib/locale", "/proc/cpuinfo", "/proc/meminfo",
    "/proc/sys/kernel/ngroups_max", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
    "/proc/self/exe", "/dev/random", "/dev/urandom",
  ]
  private static let sinks = ["/dev/null", "/dev/zero", "/dev/full"]
  private static let names = [
    "/etc/resolv.conf", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/etc/hosts", "/etc/host.conf",
    "/etc/gai.conf", "/etc/services", "/etc/protocols",
  ]
  /// What libraries for TLS read; not the folders of private keys beside it.
  static let certificates = [
    "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf", "/etc/gnutls/config", "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/crypto-policies", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/usr/share/pki", "/var/lib/ca-certificates",
  ]
  private static let network = names + certificates

  /// Where programs must be that a confined worker may start, if it may start any.
  static let startable = libraries + programs

  /// Paths that every worker may read, with links followed.
  static let everybodys = libraries + programs + runtime + sinks + network + ["/proc/self"]

  /// All rules of a confinement.
  static func rules(of confinement: Confinement) -> [FileRule] {
    // Only a started program needs the right to execute; a library is mapped.
    let library: LandlockFileAccess = confinement.exec ? .readExecute : .read
    var rules = libraries.map { FileRule(path: $0, access: library) }
    rules += runtime.map { FileRule(path: $0, access: .read) }
    rules += sinks.map { FileRule(path: $0, access: [.readFile, .writeFile, .truncate]) }
    rules.append(FileRule(path: "/proc/self", access: .read, held: true))
    if confinement.network != .none { rules += network.map { FileRule(path: $0, access: .read) } }
    if confinement.exec { rules += programs.map { FileRule(path: $0, access: .readExecute) } }
    rules.append(FileRule(path: confinement.plugin, access: library, entitlement: "the plugin's file"))
    rules += confinement.libraryDirectories.map { FileRule(path: $0, access: library, entitlement: "its folders of libraries") }
    if let directory = confinement.dataDirectory {
      rules.append(FileRule(path: directory, access: .readWrite, entitlement: "its data directory", followsLinks: false))
    }
    rules += confinement.read.map { FileRule(path: $0, access: .read, entitlement: "entitlements.read", followsLinks: false) }
    rules += confinement.write.map {
      FileRule(path: $0, access: [.readWrite, .controlDevice], entitlement: "entitlements.write", followsLinks: false)
    }
    return rules
  }
}
