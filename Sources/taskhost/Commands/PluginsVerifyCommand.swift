import ArgumentParser
import PluginTrust
import StrictText

/// `taskhost plugins verify`
struct PluginsVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check a plugin file's signature. Needs no host.",
    discussion: """
      Exits 1 unless one of the keys signed the file as it is. Whether a host takes the plugin depends on more: see `plugins inspect`.

      EXAMPLES
        taskhost plugins verify libVendor.so --key vendor.pub
        taskhost plugins verify libVendor.so --key old.pub --key new.pub --json
      """)

  @Argument(help: "The plugin's file.")
  var file: String
  @Option(help: ArgumentHelp("A public key that may have signed it; may be given several times.", valueName: "name.pub"))
  var key: [String]
  @Option(help: ArgumentHelp("Where the signature is. (default: FILE.sig)", valueName: "file"))
  var signature: String?
  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard !key.isEmpty else { throw ValidationError("Give the public key that should have signed it with --key.") }
  }

  func run() throws {
    do throws(SigningFileError) {
      var keys: [PluginPublicKey] = []
      for path in key { keys.append(try PluginPublicKey(reading: path)) }
      let signer = try PluginSigning.verify(file, signature: signature, keys: keys)
      if json { return printJSON(signer: signer.id, failure: nil) }
      Terminal.print("\(file) is signed with the key \(signer.id)")
    } catch {
      if json { printJSON(signer: nil, failure: error) }
      throw CommandFailure(error)
    }
  }

  private func printJSON(signer: String?, failure: SigningFileError?) {
    Terminal.printObject {
      $0.member("file", file)
      $0.member("valid", failure == nil)
      if let signer { $0.member("key", signer) }
      if let failure { $0.member("message", failure.description) }
    }
  }
}

extension CommandFailure {
  /// A key, signature or file that could not be used.
  init(_ error: SigningFileError) {
    self.init(.failed, error.file, error.observed, remedy: error.remedy)
  }
}
