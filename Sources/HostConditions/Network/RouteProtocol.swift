/// The rtnetlink constants needed here, from the kernel's ABI (`linux/netlink.h`, `linux/rtnetlink.h`).
enum RouteProtocol {
  static let family: Int32 = 0  // NETLINK_ROUTE
  /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
  static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

  static let dump: UInt16 = 0x1 | 0x300  // NLM_F_REQUEST with NLM_F_DUMP
  static let interrupted: UInt16 = 0x10  // NLM_F_DUMP_INTR: something changed while the dump was made

  static let error: UInt16 = 2  // NLMSG_ERROR
  static let done: UInt16 = 3  // NLMSG_DONE
  static let overrun: UInt16 = 4  // NLMSG_OVERRUN
  static let newLink: UInt16 = 16  // RTM_NEWLINK
  static let deleteLink: UInt16 = 17  // RTM_DELLINK
  static let getLink: UInt16 = 18  // RTM_GETLINK
  static let newAddress: UInt16 = 20  // RTM_NEWADDR
  static let deleteAddress: UInt16 = 21  // RTM_DELADDR
  static let newRoute: UInt16 = 24  // RTM_NEWROUTE
  static let deleteRoute: UInt16 = 25  // RTM_DELROUTE
  static let getRoute: UInt16 = 26  // RTM_GETROUTE

  static let interfaceName: UInt16 = 3  // IFLA_IFNAME
  static let routeInterface: UInt16 = 4  // RTA_OIF
  static let routeMetric: UInt16 = 6  // RTA_PRIORITY
  static let routeMultipath: UInt16 = 9  // RTA_MULTIPATH
  static let routeTable: UInt16 = 15  // RTA_TABLE

  static let up: UInt32 = 0x1  // IFF_UP
  static let loopback: UInt32 = 0x8  // IFF_LOOPBACK
  static let running: UInt32 = 0x40  // IFF_RUNNING

  static let unicast: UInt8 = 1  // RTN_UNICAST: neither unreachable nor a black hole
  static let mainTable: UInt32 = 254  // RT_TABLE_MAIN
  static let localTable: UInt32 = 255  // RT_TABLE_LOCAL
  static let dead: UInt32 = 0x1  // RTNH_F_DEAD
  static let cloned: UInt32 = 0x200  // RTM_F_CLONED: an entry of the kernel's route cache
}

/// An rtnetlink message with the parts needed here.
enum RouteMessage: Sendable, Hashable {
  case done
  /// A refusal, with its `errno`; 0 is an acknowledgement.
  case refused(Int32)
  case overrun
  case link(NetworkLink)
  case linkGone(Int32)
  /// An address was added or removed; routes can disappear with it without a message.
  case address
  /// An existing default route.
  case route(DefaultRoute)
  case routeGone
  case other
}
