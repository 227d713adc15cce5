import type { PublicEndpoint } from '#server/domain/topology-rules/fabric.ts';
import type { ProxyLimits } from './limits.ts';
import type { Traffic } from './traffic.ts';

/** What all endpoints of a proxy share. */
export interface Shared {
  limits: ProxyLimits;
  traffic: Traffic;
  /** Open TCP connections and known UDP clients, of all endpoints. */
  open: { connections: number; clients: Set<{ lastAt: number; forget(): void }> };
  /** A monotonic clock, in milliseconds. */
  now(): number;
}

/** A public port that a proxy serves. */
export interface Served {
  /** Begins to listen. Rejects with the system’s error if that is not possible. */
  listen(): Promise<void>;
  /** Replaces the members. Existing connections stay with the previous ones. */
  replace(endpoint: PublicEndpoint): void;
  /** Counts traffic, ends what was idle for too long, and ends connections to ports that are not `standing`. */
  sweep(standing: (vmId: string) => boolean): void;
  /** Stops listening. Existing connections are kept. */
  close(): void;
  /** Whether connections or clients are left. */
  isBusy(): boolean;
  /** Ends all connections. */
  destroy(): void;
}
