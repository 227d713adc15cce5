import type { IncomingMessage } from 'node:http';
import { type BlockList, isIPv6, type Socket } from 'node:net';
import { newRequestId } from './request-id.ts';

/** Headers by which a proxy speaks for somebody else. From anyone but a trusted proxy they are forgeries. */
const speakingForOthers = /^(forwarded|x-forwarded-.*|x-real-ip|x-request-id)$/;

const requestIdForm = /^[\w.-]{8,64}$/;

/** Whose request it is and under which id it is logged. */
export interface ForwardedOrigin {
  remoteAddress: string;
  requestId: string;
}

/** Who is at the other end of a connection. */
export interface Peer {
  address: string;
  /** Whether it may speak for others. */
  isTrusted: boolean;
}

export function readPeer(socket: Socket, trusted: BlockList): Peer {
  const address = plainAddress(socket.remoteAddress ?? '');
  return { address, isTrusted: isTrusted(address, trusted) };
}

/**
 * Finds out who asks, and leaves in the request's headers only what can be believed: forwarded headers of trusted
 * proxies, and a request id, the proxy's or a new one. Must run before anybody reads the headers.
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

/** The last address in the chain that no trusted proxy vouches for as another proxy of ours. */
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

/** An IPv4 address is written as one, also where it came in over an IPv6 socket. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
