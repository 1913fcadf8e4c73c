import ArgumentParser
import PluginTrust
import StrictText

/// `taskhost plugins sign`
struct PluginsSignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Sign a plugin file. Needs no host.",
    discussion: """
      Writes the signature to FILE.sig, where a host looks for it, in place of an earlier one.
      Sign last: a file that is stripped or changed afterwards needs a new signature. See what would be refused with `plugins inspect`.

      EXAMPLES
        taskhost plugins sign libVendor.so --key vendor.key
        taskhost plugins sign libVendor.so --key vendor.key --output libVendor.so.sig
      """)

  @Argument(help: "The plugin's file.")
  var file: String
  @Option(help: ArgumentHelp("The private key, as keygen made it.", valueName: "name.key"))
  var key: String
  @Option(name: .shortAndLong, help: ArgumentHelp("Where the signature goes. (default: FILE.sig)", valueName: "file"))
  var output: String?
  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let output = output ?? PluginSigning.signatureFile(of: file)
    let signing: PluginSigningKey
    let digest: String
    do throws(SigningFileError) {
      signing = try PluginSigningKey(reading: key)
      digest = try PluginSigning.sign(file, with: signing, output: output)
    } catch {
      throw CommandFailure(error)
    }
    if json {
      return Terminal.printObject {
        $0.member("file", file)
        $0.member("sha256", digest)
        $0.member("key", signing.publicKey.id)
        $0.member("signature", output)
      }
    }
    Terminal.print("\(output)  by the key \(signing.publicKey.id), sha256 \(digest)")
  }
}
