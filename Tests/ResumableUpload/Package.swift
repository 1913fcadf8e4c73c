// swift-tools-version: 6.2
import PackageDescription

/// A server of resumable uploads that is not ours, for `make upload-server`. A package of its own, so that nothing else depends on what
/// swift-nio-extras does.
let package = Package(
  name: "ResumableUpload",
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
  ],
  targets: [
    .executableTarget(
      name: "UploadServer",
      dependencies: [
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOResumableUpload", package: "swift-nio-extras"),
      ])
  ])
