import Foundation
import Testing

@testable import TokenRefresh

@Suite("Keys that sign") struct SigningKeyTests {
  /// Made for this test.
  private static let rsaKey = """
    -----BEGIN PRIVATE KEY-----
    MIIEvwIBADANBgkqhkiG9w0BAQEFAASCBKkwggSlAgEAAoIBAQCIc/JvIfjEdqPV
    MLOMRF8/qpazjVO1ao2S2Px7NuymQN3VrLP3X6HM/LUcQePck9AXB+FzQ/+rdDRH
    TjZ/NxYNE1n8g7UaFdsvOZleALdA3E/MBNRmxq7T/uHzqhoRFTEU2i7u/zy2VCAz
    +FovyhlvfAaTW4qEH2rXRr6EdQyNsXrL0iN8Ix36EYlO7qdNWb/DN8EZ+9JUR4ev
    /+6lfXqGTyXGzmNJgCwh24erFeaQF7Go7LCpoNMCNNOPdqqs9+aWPh34pdmFA0d8
    WjYJVcYeEgn4LnWTV4Qti7RDE1GxgxisJnyr+EL8GJupPMKUVDZIckxwg1YMa/YE
    T+xpsaAhAgMBAAECggEAAmCQve5n1NZjSszHJ/+t8CBC8VxaM7woPMFyfpwJmejh
    5H3Wgc4E9dsGNbiRJW/ezXPp8dXir6Q93+slKGi3heFLLUrHHi34zFUSzrAxARyF
    eF6yK5s1AwT6/0F8pEUL/prBfBDuyBdlmzotqgz5jfdpbupGmsAoXplBKvIWFqbV
    I2Ja5I5S2Scc/RfdR4lfd0qt9ek9CYYQbd5TTN/z3T0t4qxgaSmZrl8s2J3ZgYI7
    s5Rx6DZF/5pweWazE2tBglw6avFUIyPZ2r4FKC6T/8lASAsD0Thuet5GYiKWCyPQ
    dNC7Zz8NR+Xj55jLLicFDTKIftOM8i3+S8joFrFtUQKBgQC8dy4qRBmDWgViYLzw
    8SPuFJluLy/POpnnjYbG4ab2ivOaOGE+5qQu4+PknGSWiGT0Yem0OzmwloCu11gw
    r/UD/o85Ciegbr8ml8xIL8yKd7iW1mDbufTedcMxX72wMLTsJwoIheMVkx6GTh7+
    6FAPKmOgs1qJe9e9i+ozIfLJeQKBgQC5WWgZ+X0KkieWQ5kMibExqozHQ/2huzQ4
    9Cvf6h9VIjGIVpfy4abUKRde8SoGr864KYzh8D1+trfhtsp0zgT5qSzJM9VB5P89
    LebMOlhefW4BqxHZssOh5SFNCj43V3gb5hlSWlXbo1jcA+hITvovehRYXJFHfwwu
    p4y1ufsJ6QKBgQCwZK/duU1Txj7B3B8bN+dUHw2Xtix+Pa/srGbX4D2gBV+JGXnT
    IJXMmVkkEEiJJ/GtVbMiEEingcXBXyZYs2eUrH4qedmq69yW5364lZxQgUtQSifv
    n7WTPQ9LN/vXW08KtGNMpNtsxvzL4XRbSt4bw6Xps9RqV3IOI1U5NG4DqQKBgQCx
    xFZb0zViVhsxu1Om+si/4dtzono4C9xiY41RDLNQa6MmKCdEA7iF84M+w/6SuzuA
    1hkQ+eGBDq3+BdrXfGC5MtCJiPUYZhGHE+cwKSVoOtSvNOvB5/pJ5AC0awaQ/Yts
    9puCqLGAHoKzQewereC2eFfbB60u7WM5u+jwwpdLQQKBgQCvECvXd8slPdZcdbI6
    ODyUckRyogJNLI/TWnJJOJd/dPh3jyo5sP368jmyeohgS1AqHFWY83I5h3nYD2o8
    S+j/icHaH9ZwTzuS5yX7BOrMTdXCYGW/CFK3VdizG+OuRAeGNbwrZ5CGUynHbxSX
    FWP4U2SrFvPTKSLc8kBWF/voyQ==
    -----END PRIVATE KEY-----
    """

  private static let content = Array("header.claims".utf8)

  @Test("RSA signs as OpenSSL's command does: RSASSA-PKCS1-v1_5 with SHA-256")
  func rsa() throws {
    let (algorithm, signature) = try #require(Self.sign(Self.rsaKey))
    #expect(algorithm == .rs256)
    #expect(
      Data(signature).base64EncodedString()
        == "Vo1GnfS5kUPc27o4Eys3sFFzFZaOExJgvvv2GdhwwEGT02Hygp5wZovQzISwxpIqLgulNojht5XE1imryL7uDXfNsN9der+XN0FSAr8ynXsF7YnTaZi1"
        + "/52HisYFk+WPHasJnQ3p7JehVcpzaVnJSmEBIO3ua3i23K51wfl6DvezRJCTNO+J4DUhGKJHFn9RaUu4plpfXIACh1P0sE7Lj3tZreZqcXUDjWzlspXJ"
        + "RQJIJNAKANLs0L/ASV/28tu3zAzDaTZUOOwEKEuBmyJ/EuNA29IkwyIT45N4vLYWBjMXUSD9gLm4qsPpGUItGeSTfz90FWS6sxRnzX8IDOK4Ng==")
  }

  @Test("the signature of a curve is its two numbers in full length")
  func curves() throws {
    // Often enough that numbers with leading zeros come.
    let curves = [TestKey.Curve](repeating: .p256, count: 300) + [.p384, .p521]
    for curve in curves {
      let key = try TestKey(curve)
      let (algorithm, signature) = try #require(Self.sign(key.pem))
      #expect(algorithm == (curve == .p256 ? .es256 : curve == .p384 ? .es384 : .es512))
      #expect(key.verifies(signature, of: Self.content))
      #expect(!key.verifies(signature, of: Self.content + [0]))
    }
  }

  @Test("a short RSA key, another curve, another kind, and a key with a password, which is not asked for, are refused", arguments: unusable)
  func refused(_ block: String) {
    #expect(Self.sign(block) == nil)
  }

  private static func sign(_ block: String) -> (SigningKey.Algorithm, [UInt8])? {
    guard let key = SigningKey(block: block) else { return nil }
    return key.sign(content).map { (key.algorithm, $0) }
  }

  /// Made for this test: RSA of 1024 bits, secp256k1, Ed25519, P-256 with a password.
  private static let unusable = [
    """
    -----BEGIN PRIVATE KEY-----
    MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBALIbyK/pS+WsjTCb
    JMXhaohWF/taaGkhvE3sq+wUYXrxwB9tLcy1Ze53Ax5l73iPXEzwvINonvRc+Vja
    rSvQ9pG1uSMA4rdZLFhDadXsOLXIHCAR2EN6+3e7KQiQbcIqO4YkTy3/nfmL+FpK
    kwRok7Q8+sR/XuYgVNdbx5WigNABAgMBAAECgYBBvv/V78iUf52e06Y/ZXZt3Vn8
    7uKb7FgWa8cK3nsdZyAEecjuSAfYfxYnonlDh6gKvtLXr0b97VQd+Jr0Ea7yfIkX
    tHiYb389N2hjm8NX0hv7KnqJNeTaX54IrsxyjQWuVIIjtlG15PYFWPIwUaM+JnkX
    XZjFAq81c8ArvgpCAQJBAOZUcXwSAoASOXMw8wreBgjeEc0xWZEWLFFT6iCwrLUv
    OWPyhJ/zSk14p4wK4tbuo6G41sQrzOmhY7dkkHKyY3MCQQDF9WkUODBcPN04Ht1r
    Gc1RqD5I0xCufNN+OvT9D1rxvnckFPSgy2bgkuQGaOEwl1pS4nWePuw5iN5HCUpI
    +Gm7AkBizoLIaKlt62N9yNfaJ5iLIUidr7fuh4aHdOoRD/lm2FVUTOsb+rA7P7EQ
    YHMjJMhJThPDn86NwtAWEivtKB2FAkAJ98WGwx2MR3RMMyGrFu2Dwxj/ycD5SEfN
    /2H+rBtEOPb+1h9LSXKwtDTPLdDJBZYCvmx1v21dqEqpAQrAieGpAkAWi8qRO5wy
    h4bhCNbiNKfQ9+AqOTl8FHcTMzqiqV9nYSJXP1G9E87g6H48pF6NTBbnPCmW8ZCi
    VIoN7end77VK
    -----END PRIVATE KEY-----
    """,
    """
    -----BEGIN PRIVATE KEY-----
    MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgViMERT1/c+B7UZU1OFNA
    ZFXLXjC435dYdDLp63o6zouhRANCAATAQ5nHTm76iZmRIOq73iPuk3YeB/5WaNa0
    kS+ITDdXHexAHLwrL1qgRZLIM6NNam12aV2RmxcAZZXt45t8kVMK
    -----END PRIVATE KEY-----
    """,
    """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIGS9i5maKdCtm2/+vHzL2wMaKQHAhy7LPB6qjmYOQXMA
    -----END PRIVATE KEY-----
    """,
    """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhpEhbKMvNbBAICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGdZ+uabMM0RnVJ0ZykbMLYEgZDa
    Weiaiou+nVVGGf/N994pfhr6dBo24ptZ4q06rXMLkuWZ9ih8R4/uty9VWhYLrAT6
    gjDihxLREkMCUaz9CVQpaIhVybzTsTQV1IZBk8zoL4kTSJ65FZYwI9M4aaTXJVB9
    Y5BquqwjdykasIQ1JZQj7Rrb+EU43D9J2slmeQSVcg76ZeT7rs4lj07r1KXMwrU=
    -----END ENCRYPTED PRIVATE KEY-----
    """,
  ]
}
