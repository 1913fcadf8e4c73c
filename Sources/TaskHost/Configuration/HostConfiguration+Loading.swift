import Glibc
import PluginTrust

extension HostConfiguration {
  /// Reads a configuration.
  ///
  /// - Parameter file: Path; relative paths in the file are relative to its directory.
  /// - Throws: ``ConfigurationError`` with all problems of the file.
  public static func load(file: String) throws(ConfigurationError) -> HostConfiguration {
    let text: String
    do throws(TextProblem) {
      text = try ConfigurationFile.read(file)
    } catch {
      throw ConfigurationError(file: file, problems: [ConfigurationProblem(line: 0, column: 0, message: error.message)])
    }
    return try parse(text, file: file)
  }

  /// Reads `text` as if it were the content of `file`.
  public static func parse(_ text: String, file: String) throws(ConfigurationError) -> HostConfiguration {
    if let flaw = flawOfLibcrypto {
      throw ConfigurationError(file: file, problems: [ConfigurationProblem(line: 0, column: 0, message: flaw)])
    }
    let path = ConfigurationFile.resolve(file, in: ConfigurationFile.workingDirectory())
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let directory = slash == path.startIndex ? "/" : String(path[..<slash])
    let reader: TOMLReader
    do throws(ConfigurationProblem) {
      reader = try TOMLReader(text: text, directory: directory)
    } catch {
      throw ConfigurationError(file: file, problems: [error])
    }
    var configuration = HostConfiguration(directory: directory)
    configuration.file = path
    configuration.written = WrittenKeys(reader.root)
    configuration.written.digest = SHA256.digest(of: Array(text.utf8))
    reader.read(reader.root, fields, into: &configuration, at: ConfigurationPath())
    if !reader.has("control", "socket") {
      configuration.control.socket = ConfigurationFile.resolve("control.sock", in: configuration.stateDirectory)
    }
    configuration.addCommands(reader)
    configuration.leaveOutMissingPlugins(reader)
    configuration.addNotices(reader)
    configuration.reportContradictions(to: reader)
    guard reader.problems.isEmpty else { throw ConfigurationError(file: file, problems: reader.problems) }
    return configuration
  }

  /// Why nothing can be told from its earlier content, whether a configuration or a plugin; nil if it can.
  static var flawOfLibcrypto: String? {
    guard !Libcrypto.hasSHA256 else { return nil }
    return
      "libcrypto (OpenSSL) of this machine has no SHA-256, without which no plugin can be checked: install an OpenSSL with it, such as Debian's libssl3"
  }

  /// A host that runs commands alone needs no directory of plugins: nobody has written that there is one.
  private mutating func leaveOutMissingPlugins(_ reader: TOMLReader) {
    guard !commands.isEmpty, !reader.has("plugin_directories") else { return }
    pluginDirectories.removeAll { access($0, F_OK) != 0 && errno == ENOENT }
  }

  /// The configuration of a host started without a file: every default, relative to the working directory.
  public static func defaults() -> HostConfiguration {
    HostConfiguration(directory: ConfigurationFile.workingDirectory())
  }
}
