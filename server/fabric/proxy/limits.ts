/** Limits of the proxy. Times are in milliseconds. */
export interface ProxyLimits {
  /** Open TCP connections of one endpoint, and of all endpoints together. Further connections are closed. */
  endpointConnections: number;
  connections: number;
  /** Within this time, a member must take a connection. Otherwise, the next member is tried. */
  connectMs: number;
  /** For this time, a member that took no connection comes after all others. */
  passOverMs: number;
  /** After this time without a byte in either direction, a connection is closed. */
  idleMs: number;
  /** If a member closes a connection within this time without sending a byte, it comes after all others. */
  hastyMs: number;
  /** UDP clients that are assigned to members. If there are more, the one that was silent longest is forgotten. */
  clients: number;
  /** After this time without a datagram, a UDP client is forgotten. */
  clientMs: number;
  /** Bytes of datagrams that wait for the system, for one client. Further datagrams are dropped. */
  clientBytes: number;
  /** Interval between two looks at open connections and clients. */
  sweepMs: number;
}

export const defaultProxyLimits: ProxyLimits = {
  endpointConnections: 1_000,
  connections: 10_000,
  connectMs: 3_000,
  passOverMs: 5_000,
  idleMs: 600_000,
  hastyMs: 1_000,
  clients: 10_000,
  clientMs: 60_000,
  clientBytes: 262_144,
  sweepMs: 2_000,
};
