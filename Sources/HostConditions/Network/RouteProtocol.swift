/// The rtnetlink constants used here, from the kernel's `linux/netlink.h` and `linux/rtnetlink.h`, which are its ABI.
enum RouteProtocol {
  /// NETLINK_ROUTE.
  static let family: Int32 = 0
  /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
  static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

  /// NLM_F_REQUEST with NLM_F_DUMP.
  static let dump: UInt16 = 0x1 | 0x300
  /// NLM_F_DUMP_INTR: something changed while the dump was made.
  static let interrupted: UInt16 = 0x10

  /// NLMSG_ERROR.
  static let error: UInt16 = 2
  /// NLMSG_DONE.
  static let done: UInt16 = 3
  /// NLMSG_OVERRUN.
  static let overrun: UInt16 = 4
  /// RTM_NEWLINK.
  static let newLink: UInt16 = 16
  /// RTM_DELLINK.
  static let deleteLink: UInt16 = 17
  /// RTM_GETLINK.
  static let getLink: UInt16 = 18
  /// RTM_NEWADDR.
  static let newAddress: UInt16 = 20
  /// RTM_DELADDR.
  static let deleteAddress: UInt16 = 21
  /// RTM_NEWROUTE.
  static let newRoute: UInt16 = 24
  /// RTM_DELROUTE.
  static let deleteRoute: UInt16 = 25
  /// RTM_GETROUTE.
  static let getRoute: UInt16 = 26

  /// IFLA_IFNAME.
  static let interfaceName: UInt16 = 3
  /// RTA_OIF.
  static let routeInterface: UInt16 = 4
  /// RTA_PRIORITY.
  static let routeMetric: UInt16 = 6
  /// RTA_MULTIPATH.
  static let routeMultipath: UInt16 = 9
  /// RTA_TABLE.
  static let routeTable: UInt16 = 15

  /// IFF_UP.
  static let up: UInt32 = 0x1
  /// IFF_LOOPBACK.
  static let loopback: UInt32 = 0x8
  /// IFF_RUNNING.
  static let running: UInt32 = 0x40

  /// RTN_UNICAST: neither unreachable nor a black hole.
  static let unicast: UInt8 = 1
  /// RT_TABLE_MAIN.
  static let mainTable: UInt32 = 254
  /// RT_TABLE_LOCAL.
  static let localTable: UInt32 = 255
  /// RTNH_F_DEAD.
  static let dead: UInt32 = 0x1
  /// RTM_F_CLONED: an entry of the kernel's route cache.
  static let cloned: UInt32 = 0x200
}
