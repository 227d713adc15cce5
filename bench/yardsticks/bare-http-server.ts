import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A minimal node:http server that sends the same response to every request. The first argument describes the response
 * as JSON.
 */
const { headers, status, bytes } = JSON.parse(process.argv[2] ?? '{}') as {
  headers: Record<string, string>;
  status: number;
  bytes: number;
};
const body = 'x'.repeat(bytes);
const server = createServer({ noDelay: true, keepAliveTimeout: 70_000 }, (request, response) => {
  const answer = (): void => {
    response.writeHead(status, bytes > 0 ? { ...headers, 'content-length': bytes } : headers);
    response.end(body);
  };
  if (request.method === 'GET') answer();
  else request.resume().once('end', answer);
});
server.listen(0, '127.0.0.1', 2_048, () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
