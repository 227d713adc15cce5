import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A server that forwards requests to a portal, and sends the HTML of one page in two parts. */
export interface PageInTwoParts {
  url: string;
  /** Sends the second part. */
  finish: () => void;
  /** Stops the server. */
  close: () => void;
}

/** Starts the server. The HTML of the page at `address` ends before the text `stop` until `finish` is called. */
export async function pageInTwoParts(portal: string, address: string, stop: string): Promise<PageInTwoParts> {
  const { promise: rest, resolve: finish } = Promise.withResolvers<void>();
  const server = createServer(async (incoming, answer) => {
    const response = await forward(portal, incoming, answer);
    answer.writeHead(response.statusCode ?? 502, response.headers);
    if (incoming.url !== address) {
      response.pipe(answer);
      return;
    }
    const html = await text(response);
    const at = html.indexOf(stop);
    answer.write(html.slice(0, at));
    await rest;
    answer.end(html.slice(at));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${address}`,
    finish,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sends a request to the portal, without compression and as if it came from a page of the portal. */
function forward(portal: string, incoming: IncomingMessage, answer: ServerResponse): Promise<IncomingMessage> {
  const { method, headers } = incoming;
  const origin = headers.origin === undefined ? {} : { origin: portal };
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
  const forwarded = request(
    new URL(incoming.url ?? '/', portal),
    { method, headers: { ...headers, ...origin, host: new URL(portal).host, 'accept-encoding': 'identity' } },
    resolve,
  );
  forwarded.on('error', () => answer.destroy());
  incoming.pipe(forwarded);
  return promise;
}
