import type { Config } from '#server/platform/env.ts';

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || host.startsWith('127.');

/** Returns warnings about settings that do not keep Annex from starting, but are probably mistakes. */
export function startWarnings(config: Pick<Config, 'host' | 'gatewayUrl' | 'trustProxy'>): string[] {
  const { host, gatewayUrl, trustProxy } = config;
  const hasProxy = trustProxy.rules.length > 0;
  if (isLoopback(new URL(gatewayUrl).hostname) || !isLoopback(host) || hasProxy) return [];
  return [
    `ANNEX_GATEWAY_URL is ${gatewayUrl}, but Annex accepts connections only from this machine (HOST is ${host}). Set HOST to an address in the network. If a proxy on this machine forwards the connections, set ANNEX_TRUST_PROXY to the proxy's address.`,
  ];
}
