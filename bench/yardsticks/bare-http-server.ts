import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As little as node:http can do: the headers of the gateway's 304 (first argument, JSON) for whatever is asked. */
const headers = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const server = createServer({ noDelay: true, keepAliveTimeout: 70_000 }, (_, response) => {
  response.writeHead(304, headers);
  response.end();
});
server.listen(0, '127.0.0.1', 2_048, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
