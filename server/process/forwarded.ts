import type { IncomingMessage } from 'node:http';
import { type BlockList, isIPv6, type Socket } from 'node:net';
import { newRequestId } from './request-id.ts';

/** Headers in which a proxy describes its client and the request. They are accepted only from trusted proxies. */
const speakingForOthers = /^(forwarded|x-forwarded-.*|x-real-ip|x-request-id)$/;

const requestIdForm = /^[\w.-]{8,64}$/;

/** The client's IP address, and the id of the request in the log. */
export interface ForwardedOrigin {
  remoteAddress: string;
  requestId: string;
}

/** The other end of a connection: the client, or a proxy. */
export interface Peer {
  address: string;
  isTrusted: boolean;
}

export function readPeer(socket: Socket, trusted: BlockList): Peer {
  const address = plainAddress(socket.remoteAddress ?? '');
  return { address, isTrusted: isTrusted(address, trusted) };
}

/**
 * Determines the client and the request id, and removes forwarded headers that do not come from a trusted proxy. Must
 * run before the headers are read.
 */
export function settleOrigin(
  request: IncomingMessage,
  { address: peer, isTrusted: trustsPeer }: Peer,
  trusted: BlockList,
  newId: string = newRequestId(),
): ForwardedOrigin {
  const given = request.headers['x-request-id'];
  const requestId = trustsPeer && typeof given === 'string' && requestIdForm.test(given) ? given : newId;
  const remoteAddress = trustsPeer ? clientOf(request.headers['x-forwarded-for'], peer, trusted) : peer;
  const kept: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? '';
    const lower = name.toLowerCase();
    if (lower === 'x-request-id' || (!trustsPeer && speakingForOthers.test(lower))) {
      delete request.headers[lower];
      continue;
    }
    kept.push(name, request.rawHeaders[i + 1] ?? '');
  }
  request.rawHeaders = [...kept, 'X-Request-Id', requestId];
  request.headers['x-request-id'] = requestId;
  return { remoteAddress, requestId };
}

/**
 * Returns the last address in the chain that does not belong to a trusted proxy. If all belong to trusted proxies,
 * returns the first address.
 */
function clientOf(forwardedFor: string | string[] | undefined, peer: string, trusted: BlockList): string {
  const chain = [forwardedFor ?? []].flat().join(',').split(',');
  let client = peer;
  for (const entry of chain.reverse()) {
    const address = plainAddress(entry.trim());
    if (address === '') break;
    client = address;
    if (!isTrusted(address, trusted)) break;
  }
  return client;
}

function isTrusted(address: string, trusted: BlockList): boolean {
  if (address === '') return false;
  try {
    return trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  } catch {
    return false;
  }
}

/** Returns an IPv4 address in dotted notation, even if it comes from an IPv6 socket. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
