import NIOSSL
import PluginTrust
public import TaskModel

/// A file of certificates in PEM that something trusts, as `ca_file` names one.
public enum AuthorityFile {
  /// The largest that is read.
  private static let largest = 1 << 20

  /// When the last of its certificates ends. Blocks briefly.
  ///
  /// - Throws: The flaw of the file.
  public static func lastEnd(of path: String) throws(CertificateError) -> WallTime {
    let bytes: [UInt8]
    do throws(SigningFlaw) { bytes = try SmallFile.read(path, trust: .anybody, atMost: largest) } catch {
      throw CertificateError([error.observed])
    }
    guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), let last = certificates.map(\.notValidAfter).max() else {
      throw CertificateError(["holds no certificate in PEM"])
    }
    return WallTime(unixSeconds: last)
  }
}
