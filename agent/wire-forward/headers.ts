import type { IncomingHttpHeaders } from 'node:http';

/** They belong to one connection, not to the request. */
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
/** A guest must not say whom it speaks for, nor where it is: that is the forwarder's to say. */
const forged = /^(x-guest-|x-forwarded-|x-real-ip$|forwarded$|authorization$|cookie$|host$)/;

/** The headers of a request as they go on to the gateway, with the VM's token and the forwarder's run. */
export function requestHeaders(given: IncomingHttpHeaders, token: string, run: string): IncomingHttpHeaders {
  const length = given['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
  return { ...kept(given, (name) => !forged.test(name)), ...length, 'x-guest-token': token, 'x-guest-forwarder': run };
}

/** The headers of an answer as they go back to the agent. */
export function responseHeaders(given: IncomingHttpHeaders): IncomingHttpHeaders {
  return kept(given, () => true);
}

function kept(given: IncomingHttpHeaders, isWelcome: (name: string) => boolean): IncomingHttpHeaders {
  const named = (given.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const leftOut = new Set([...hopByHop, ...named]);
  // Whoever had it taken off could say, as the end of a body, what the gateway takes for a request of its own.
  leftOut.delete('content-length');
  return Object.fromEntries(Object.entries(given).filter(([name]) => !leftOut.has(name) && isWelcome(name)));
}
