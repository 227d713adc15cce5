import type { IncomingHttpHeaders } from 'node:http';

/** Headers that apply to one connection only, not to the request. */
const hopByHop = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** Headers in which a guest could claim an identity or address. They are not relayed. */
const forged = /^(x-guest-|x-forwarded-|x-real-ip$|forwarded$|authorization$|cookie$|host$)/;

/** Returns the headers of a request to the gateway, with the VM's token and the id of the forwarder's run. */
export function requestHeaders(given: IncomingHttpHeaders, token: string, run: string): IncomingHttpHeaders {
  const length = given['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
  return { ...kept(given, (name) => !forged.test(name)), ...length, 'x-guest-token': token, 'x-guest-forwarder': run };
}

/** Returns the headers of a response to the agent. */
export function responseHeaders(given: IncomingHttpHeaders): IncomingHttpHeaders {
  return kept(given, () => true);
}

function kept(given: IncomingHttpHeaders, isWelcome: (name: string) => boolean): IncomingHttpHeaders {
  const named = (given.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const leftOut = new Set([...hopByHop, ...named]);
  // Content-Length is kept even if the Connection header names it: otherwise a guest could end a body early, and the
  // gateway would read the rest as another request.
  leftOut.delete('content-length');
  return Object.fromEntries(Object.entries(given).filter(([name]) => !leftOut.has(name) && isWelcome(name)));
}
