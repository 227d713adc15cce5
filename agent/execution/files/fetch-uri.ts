import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { guardedAddresses, guardLiteral, type HostAddress, type Lookup, type PrivateHosts } from './guard-address.ts';

/** How this machine reaches addresses outside of the portal. */
export interface UriRoute {
  /** Returns the connections for a URL. */
  connections(url: URL): Agent;
  /** Whether a proxy makes the requests for a URL. The proxy then resolves the host name. */
  usesProxy(url: URL): boolean;
  privateHosts: PrivateHosts;
  /** For tests. */
  lookup?: Lookup;
}

/** What to fetch, and where to store it. */
export interface UriDownload {
  uri: string;
  file: string;
  maxBytes: number;
  signal: AbortSignal;
  /** Time limit, in seconds; for tests. */
  seconds?: number;
}

const maxRedirects = 5;
const usualSeconds = 600;
const idleSeconds = 60;
const redirects = [301, 302, 303, 307, 308];

/**
 * Fetches a file from an address into a new file, and returns its SHA-256. Follows redirects, and checks the host of
 * each. Throws if the address must not be reached, or if no complete file arrived. Messages never contain the address,
 * because it can contain credentials.
 */
export async function fetchUri(route: UriRoute, download: UriDownload): Promise<string> {
  const { file, maxBytes, seconds = usualSeconds } = download;
  const time = AbortSignal.timeout(seconds * 1_000);
  const signal = AbortSignal.any([download.signal, time]);
  try {
    const answer = await follow(route, download.uri, signal);
    const hash = createHash('sha256');
    const written = createWriteStream(file, { mode: 0o600, flags: 'wx' });
    // The file may be created after the download fails. Waits until it is closed, so that the caller can delete it.
    const closed = new Promise<void>((resolve) => written.once('close', resolve));
    await pipeline(answer, limitedTo(maxBytes, hash), written, { signal }).finally(() => closed);
    return hash.digest('hex');
  } catch (error) {
    if (time.aborted && !download.signal.aborted) throw new Error(`it did not arrive within ${seconds} s`);
    throw error;
  }
}

/** Returns the response after all redirects. Its status is 200. */
async function follow(route: UriRoute, uri: string, signal: AbortSignal): Promise<IncomingMessage> {
  let url = urlOf(uri);
  for (let count = 0; ; count += 1) {
    const answer = await ask(route, url, signal);
    const { statusCode = 0, headers } = answer;
    if (statusCode === 200) return answer;
    answer.destroy();
    if (!redirects.includes(statusCode) || headers.location === undefined) {
      throw new Error(`${url.host} answered with status ${statusCode}`);
    }
    if (count >= maxRedirects) throw new Error(`there were more than ${maxRedirects} redirects`);
    url = urlOf(headers.location, url);
  }
}

function urlOf(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error('its address is not an http or https address');
  if (url.username !== '' || url.password !== '') {
    throw new Error('its address contains a user name or a password, which other programs could log');
  }
  return url;
}

/** Checks the host of a URL, then sends the request. Throws ForbiddenHost if the plan must not reach the host. */
async function ask(route: UriRoute, url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const { privateHosts, lookup } = route;
  let addresses: HostAddress[] | null = null;
  if (route.usesProxy(url)) guardLiteral(url, privateHosts);
  else addresses = await guardedAddresses(url, privateHosts, lookup);
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, {
      agent: route.connections(url),
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      timeout: idleSeconds * 1_000,
      signal,
      ...(addresses !== null && { lookup: answering(addresses) }),
    });
    request.on('timeout', () => request.destroy(new Error(`${url.host} sent nothing for ${idleSeconds} s`)));
    request.on('error', reject);
    request.on('response', resolve);
    request.end();
  });
}

/** Returns a `lookup` that answers with addresses that were resolved before. */
const answering =
  (addresses: readonly HostAddress[]): LookupFunction =>
  (_, { all }, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error('the name has no address'), '');
    else if (all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

/** Passes bytes on and hashes them. Throws above the limit. */
function limitedTo(maxBytes: number, hash: { update(chunk: Buffer): unknown }) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024 / 1024} MiB`);
      hash.update(chunk);
      yield chunk;
    }
  };
}
